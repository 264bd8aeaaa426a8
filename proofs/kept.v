(** The kept nodes: within bounds, closed under parents, at distinct places, a prefix of each node's slots. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import ranking pool precedence rank_invariance.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Kept.
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

(** the kept nodes: in bounds, closed under parents, all at different places *)
Lemma build_pool Y n : n \in build Y -> n \in pool Y.
Proof. by move/mem_take; rewrite ranked_mem. Qed.

Lemma build_tok Y n : n \in build Y -> tok n = Y (ctx n) (sibs n).
Proof. by move/build_pool; rewrite poolP => /andP[_ /cands_tok]. Qed.

Lemma front_size Y d x : x \in front Y d -> size x.2 = d.
Proof.
elim: d x => [|d IH] x /=; first by rewrite inE => /eqP ->.
case/mapP => n /mem_take; rewrite mem_sort => /candsP[k [i [kf _ ->]]] -> /=.
by rewrite size_rcons IH ?mem_nth.
Qed.

Lemma build_bounds Y n : n \in build Y ->
  size (ctx n) = layer n /\ [/\ (layer n < depth)%N, size (sibs n) = slot n & (slot n < branching)%N].
Proof.
move/build_pool; rewrite poolP => /andP[ld /candsP[k [i [kf ins ->]]]]; split.
  by rewrite /= (front_size (mem_nth p0 kf)) //; move: ld; rewrite /=.
by move: ins; rewrite nslotsP /= size_sib => /andP[-> _]; split=> //; rewrite /= in ld *.
Qed.

Lemma build_closed Y n : steep Y -> n \in build Y -> ctx n = [::] \/ exists2 n', n' \in build Y & ctx n = path n'.
Proof.
move=> st nb; have nr := mem_take nb; pose i := index n (ranked Y).
have isz : (i < size (ranked Y))%N by rewrite index_mem.
have nE : nth n (ranked Y) i = n by rewrite nth_index.
have [kf jn e] := n_place n isz; rewrite nE in kf jn e.
have := build_pool nb; rewrite poolP => /andP[ld _].
case dE: (layer n) => [|d]; rewrite dE in kf jn e ld.
  by left; rewrite e /=; case: (prank n) kf.
right; pose g := nth n (sort before (cands Y d)) (prank n).
have fE : nth p0 (front Y d.+1) (prank n) = (score g, path g).
  move: (kf); rewrite /= size_map size_take_min leq_min => /andP[k1 k2].
  by rewrite (nth_map n) ?nth_take // size_take_min leq_min k1.
rewrite fE in jn e; have [_ gc gn] := parent_above tie_blind st kf jn.
have gp : g \in pool Y by rewrite poolP (cands_layer gc) gc (ltn_trans _ ld).
exists g; last by rewrite e.
have gt : g \in take i (ranked Y) by apply: (ranked_above (n0 := n)) => //; rewrite nE e.
have ib : (i < budget)%N := index_ltn nb.
by rewrite /build -(subnKC (ltnW ib)) takeD mem_cat gt.
Qed.

Lemma sib_mem Y s i j : (i < j)%N -> Y s (sib Y s i) \in sib Y s j.
Proof.
elim: j => //= j IH; rewrite ltnS leq_eqVlt mem_rcons inE => /orP[/eqP ->|/IH ->]; first by rewrite eqxx.
by rewrite orbT.
Qed.

Lemma sib_inj Y s i j : steep Y -> (i < nslots Y s)%N -> (j < nslots Y s)%N -> Y s (sib Y s i) = Y s (sib Y s j) ->
  i = j.
Proof.
move=> st ins jns e; case: (ltngtP i j) => // lt.
  by have [_ _] := st _ _ jns; rewrite -e sib_mem.
by have [_ _] := st _ _ ins; rewrite e sib_mem.
Qed.

Lemma cands_path Y d : steep Y -> uniq [seq x.2 | x <- front Y d] -> {in cands Y d &, injective path}.
Proof.
move=> st u a b /candsP[k [i [kf ins ->]]] /candsP[k' [i' [kf' ins' ->]]] /rcons_inj[/= cc tt].
have kk : k = k'.
  have e1 := nth_map p0 [::] snd kf; have e2 := nth_map p0 [::] snd kf'.
  by apply/eqP; rewrite -(nth_uniq [::] _ _ u) ?size_map // e1 e2 cc.
by move: ins' tt; rewrite -kk => ins' /(sib_inj st ins ins') ->.
Qed.

Lemma front_paths Y d : steep Y -> uniq [seq x.2 | x <- front Y d].
Proof.
move=> st; elim: d => [//|d IH] /=; rewrite -map_comp map_take take_uniq // map_inj_in_uniq.
  by rewrite sort_uniq cands_uniq.
by move=> a b; rewrite !mem_sort; apply: cands_path.
Qed.

Lemma build_uniq Y : steep Y -> uniq (map place_of (build Y)).
Proof.
move=> st; rewrite map_inj_in_uniq; last first.
  move=> a b ab bb [cc ss]; have [sa [la ia ja]] := build_bounds ab; have [sb [lb ib jb]] := build_bounds bb.
  have ll : layer a = layer b by rewrite -sa -sb cc.
  have := build_pool ab; have := build_pool bb; rewrite !poolP => /andP[_ bc] /andP[_ ac].
  apply: (cands_path st (front_paths (layer a) st)) => //; first by rewrite ll.
  by rewrite /path cc (build_tok ab) (build_tok bb) cc ss.
by rewrite take_uniq // ranked_uniq.
Qed.

Lemma build_size Y : (size (build Y) <= budget)%N.
Proof. by rewrite size_take_min geq_minl. Qed.

Lemma take_sib Y s i j : (j <= i)%N -> take j (sib Y s i) = sib Y s j.
Proof.
elim: i => [|i IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP[/eqP ->|ji] /=; first by rewrite take_oversize // size_rcons size_sib.
by rewrite -cats1 takel_cat ?size_sib // IH.
Qed.

(** SURVIVORS ARE A SLOT PREFIX: with a slot, all elder slots of its node are kept *)
Theorem slot_prefix Y n j : steep Y -> n \in build Y -> (j < slot n)%N ->
  exists m, [/\ m \in build Y, ctx m = ctx n, slot m = j & sibs m = take j (sibs n)].
Proof.
move=> st nb jn; have nr := mem_take nb; pose i := index n (ranked Y).
have isz : (i < size (ranked Y))%N by rewrite index_mem.
have nE : nth n (ranked Y) i = n by rewrite nth_index.
have [kf sn e] := n_place n isz; rewrite nE in kf sn e.
set f := nth p0 (front Y (layer n)) (prank n) in kf sn e.
have cn : ctx n = f.2 by rewrite e.
have hn : sibs n = sib Y f.2 (slot n) by rewrite {1}e.
have xn : score n = f.1 * wt f.2 (sib Y f.2 (slot n)) (Y f.2 (sib Y f.2 (slot n))) by rewrite {1}e.
pose m := place Y f (layer n) (prank n) j.
have nd : (layer n < depth)%N by have := build_pool nb; rewrite poolP => /andP[].
have mp : m \in pool Y.
  by rewrite poolP nd; apply/candsP; exists (prank n), j; split=> //; apply: ltn_trans jn sn.
have mt : m \in take i (ranked Y).
  apply: (ranked_above (n0 := n)); rewrite // nE; apply: (above tie_blind); last by rewrite /= !eqxx jn orbT.
  rewrite xn /=; have [_ /(_ _ jn) wl _] := st _ _ sn.
  by apply: ler_wpmul2l => //; apply: (front_ge0 st); apply: mem_nth kf.
exists m; split=> //; last by rewrite hn take_sib // ltnW.
have ib : (i < budget)%N := index_ltn nb.
by rewrite /ranking.build -(subnKC (ltnW ib)) takeD mem_cat mt.
Qed.

End Kept.
