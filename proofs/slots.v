(** The kept children of a node are the first of its slots, in the order of the slots.

    More than [slot_prefix]: not only which children are kept is determined by how many there are, but also the order
    in which they were kept. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import ranking pool precedence rank_invariance kept.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Slots.
Variables (T : eqType) (R : realFieldType).
Variables (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R) (tie : T -> nat).
Variables (branching frontier depth : nat).
Implicit Types (s h : seq T).
Local Notation node := (node T R).
Local Notation p0 := (p0 T R).
Local Notation rank := (@rank T R tie).
Local Notation before := (@before T R tie).
Local Notation nslots := (nslots more branching).
Local Notation place := (ranking.place wt).
Local Notation front := (front more wt tie branching frontier).
Local Notation cands := (cands more wt tie branching frontier).
Local Notation pool := (pool more wt tie branching frontier depth).
Local Notation ranked := (ranked more wt tie branching frontier depth).
Local Notation steep := (steep more wt branching).
Variable Y : seq T -> seq T -> T.
Hypothesis tie_blind : forall x y, tie x = tie y.
Hypothesis st : steep Y.

Definition above_of : rel node := fun a b => (rank a < rank b)%O.
Lemma above_trans : transitive above_of. Proof. by move=> b a c; apply: lt_trans. Qed.
Lemma above_irr : irreflexive above_of. Proof. by move=> a; apply: ltxx. Qed.

Lemma slot_order f d k i j : 0 <= f.1 -> (i < j)%N -> (j < nslots Y f.2)%N ->
  above_of (place Y f d k i) (place Y f d k j).
Proof.
move=> f0 ij js; apply: (above tie_blind); last by rewrite /= !eqxx ij orbT.
by have [_ /(_ _ ij) wl _] := st js; rewrite /= ler_wpmul2l.
Qed.

Lemma ranked_strict : sorted above_of (ranked Y).
Proof.
have : sorted <%O (map rank (ranked Y)).
  rewrite lt_sorted_uniq_le map_inj_in_uniq ?ranked_uniq /=; last first.
    by move=> a b; rewrite !ranked_mem; apply: rank_inj.
  by rewrite sorted_map; apply: sort_sorted; exact: before_total.
by rewrite sorted_map.
Qed.

Lemma kept_kids n0 i : (i < size (ranked Y))%N -> let n := nth n0 (ranked Y) i in
  let f := nth p0 (front Y (layer n)) (prank n) in
  [seq m <- take i (ranked Y) | ctx m == ctx n] = [seq place Y f (layer n) (prank n) j | j <- iota 0 (slot n)].
Proof.
move=> isz n f; have [kf jn nE] := n_place n0 isz; rewrite -/n -/f in kf jn nE.
have nd : (layer n < depth)%N := n_depth n0 isz.
have f0 : 0 <= f.1 by apply: (front_ge0 st); apply: mem_nth kf.
have cn : ctx n = f.2 by rewrite nE.
apply: (irr_sorted_eq above_trans above_irr).
- by apply: sorted_filter; [exact: above_trans | apply: take_sorted; exact: ranked_strict].
- rewrite sorted_map; apply: (sub_in_sorted (P := fun j => (j < slot n)%N)) (iota_ltn_sorted 0 (slot n)).
    move=> j j' _ lt' jj; apply: slot_order => //; exact: ltn_trans jn.
  by apply/allP => j; rewrite mem_iota.
move=> m; rewrite mem_filter; apply/andP/mapP => [[/eqP cm mt]|[j]]; last first.
  rewrite mem_iota add0n => /= js ->; split; first by rewrite cn.
  apply: (ranked_above (n0 := n0)) => //; last by rewrite -/n nE; apply: slot_order.
  by rewrite poolP nd; apply/candsP; exists (prank n), j; split=> //; apply: ltn_trans jn.
have mr : m \in ranked Y := mem_take mt.
have mn : above_of m n.
  have im : (index m (ranked Y) < i)%N := index_ltn mt.
  rewrite -[m](nth_index n0 mr) /n.
  by apply: (sorted_ltn_nth above_trans n0 ranked_strict); rewrite ?inE ?index_mem.
have := mr; rewrite ranked_mem poolP => /andP[_ /candsP[k [j [kf' js mE]]]].
have ll : layer m = layer n.
  by rewrite -(front_size (mem_nth p0 kf')) -(front_size (mem_nth p0 kf)) -/f -cn -cm mE.
rewrite ll in kf' js mE; have kk : k = prank n.
  have u := @front_paths T R more wt tie branching frontier Y (layer n) st.
  apply/eqP; rewrite -(nth_uniq [::] _ _ u) ?size_map // !(nth_map p0) // -/f -cn -cm.
  by rewrite mE.
rewrite kk -/f in js mE; exists j => //; rewrite mem_iota add0n /=; case: (ltngtP j (slot n)) => // [lt|jE].
  have := slot_order (layer n) (prank n) f0 lt js; rewrite -mE -nE => nm.
  by have := lt_trans nm mn; rewrite ltxx.
by move: mn; rewrite mE jE -nE /above_of ltxx.
Qed.
End Slots.
