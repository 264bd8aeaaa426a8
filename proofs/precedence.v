(** Parents and elder siblings rank above.

    Weights do not exceed 1, so a node's score is at most its parent's, and the parent is in an earlier layer; weights
    do not increase along the slots, so an elder sibling's score is at least its younger sibling's, and its slot is
    smaller. That ties do not look at tokens is used here for the first time. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import ranking pool.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Precedence.
Variables (T : eqType) (R : realFieldType).
Variables (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R) (tie : T -> nat).
Variables (branching frontier depth budget : nat).
Implicit Types (Y : seq T -> seq T -> T) (s h : seq T).
Local Notation node := (node T R).
Local Notation p0 := (p0 T R).
Local Notation rank := (@rank T R tie).
Local Notation before := (@before T R tie).
Local Notation nslots := (nslots more branching).
Local Notation place := (place wt).
Local Notation expand := (expand more wt branching).
Local Notation front := (front more wt tie branching frontier).
Local Notation cands := (cands more wt tie branching frontier).
Local Notation pool := (pool more wt tie branching frontier depth).
Local Notation ranked := (ranked more wt tie branching frontier depth).
Local Notation path := (@path T R).
Local Notation entry := (@entry T R).
Local Notation place_of := (@place_of T R).
Local Notation frontier_at := (frontier_at more wt tie branching frontier).
Local Notation build := (build more wt tie branching frontier depth budget).
Local Notation steep := (steep more wt branching).
Hypothesis tie_blind : forall x y, tie x = tie y.

(** a parent, and an earlier sibling, rank above *)
Lemma above a b : score b <= score a ->
  ((layer a < layer b)%N || [&& layer a == layer b, prank a == prank b & (slot a < slot b)%N]) -> (rank a < rank b)%O.
Proof.
move=> sc tb; rewrite /rank !ltxi_pair (tie_blind (tok a) (tok b)) lexx /=.
rewrite leEdual sc /=; apply/implyP => _; rewrite !leEnat ltEnat /=.
case/orP: tb => [lt|/and3P[/eqP -> /eqP -> lt]]; last by rewrite !leqnn.
by rewrite (ltnW lt) leqNgt lt.
Qed.

Lemma front_ge0 Y d : steep Y -> forall x, x \in front Y d -> 0 <= x.1.
Proof.
move=> st; elim: d => [|d IH] x /=; first by rewrite inE => /eqP ->; apply: ler01.
case/mapP => n /mem_take; rewrite mem_sort => /candsP[k [i [kf ins ->]]] -> /=.
by have [/andP[w0 _] _ _] := st _ _ ins; rewrite mulr_ge0 ?IH ?mem_nth.
Qed.

(** a kept node's parent ranks above it *)
Lemma parent_above Y n0 d k i : steep Y -> (k < size (front Y d.+1))%N ->
  let f := nth n0 (sort before (cands Y d)) k in
  (i < nslots Y (path f))%N ->
  [/\ nth p0 (front Y d.+1) k = (score f, path f), f \in cands Y d
    & (rank f < rank (place Y (score f, path f) d.+1 k i))%O].
Proof.
move=> st kf f ins; move: (kf); rewrite /= size_map size_take_min leq_min => /andP[k1 k2].
have fc : f \in cands Y d by rewrite -(mem_sort before) mem_nth.
have fE : nth p0 (front Y d.+1) k = (score f, path f).
  by rewrite /= (nth_map n0) ?nth_take // size_take_min leq_min k1.
split=> //; apply: above; last by rewrite (cands_layer fc) /= ltnSn.
have f0 : 0 <= score f by have := mem_nth p0 kf; rewrite fE => /(front_ge0 st).
by have [/andP[w0 w1] _ _] := st _ _ ins; rewrite /= ler_pimulr.
Qed.

End Precedence.
