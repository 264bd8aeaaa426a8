(** RANK INVARIANCE: which slot is kept next depends only on the tokens of the slots kept so far.

    Suppose two draws Y and Y' agree on the first i ranked nodes, and let n be the i-th under Y. Its parent and its
    elder siblings rank strictly above it, so they are among the first i, so they are there, with the same tokens,
    under Y'. Hence the same slot exists under Y'. Its rank is the same, for neither its weight nor its tie looks at
    its own token, and it is not among the first i. By symmetry the two i-th ranks are equal, and a rank determines
    its slot. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import ranking pool precedence.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Invariance.
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
Hypothesis wt_blind : forall s h x y, wt s h x = wt s h y.

Section Predict.
Variables (Y Y' : seq T -> seq T -> T) (n0 : node) (i : nat).
Hypotheses (st : steep Y) (agree : take i (ranked Y) = take i (ranked Y')) (isz : (i < size (ranked Y))%N).
Let n := nth n0 (ranked Y) i.
Let f := nth p0 (front Y (layer n)) (prank n).

Lemma n_pool : n \in pool Y. Proof. by rewrite -ranked_mem mem_nth. Qed.
Lemma n_depth : (layer n < depth)%N. Proof. by have := n_pool; rewrite poolP => /andP[]. Qed.
Lemma n_cands : n \in cands Y (layer n). Proof. by have := n_pool; rewrite poolP => /andP[]. Qed.
Lemma n_place : [/\ (prank n < size (front Y (layer n)))%N, (slot n < nslots Y f.2)%N &
  n = place Y f (layer n) (prank n) (slot n)].
Proof.
rewrite /f; have /candsP[k [j [kf jn e]]] := n_cands.
by rewrite e /=; split.
Qed.

Lemma same_parent : (prank n < size (front Y' (layer n)))%N /\ nth p0 (front Y' (layer n)) (prank n) = f.
Proof.
have [kf jn nE] := n_place; rewrite /f; move: n_depth kf jn; rewrite /f.
case ld: (layer n) => [|d] // dd kf jn; set k := prank n in kf jn *.
pose g := nth n0 (sort before (cands Y d)) k.
have fE : nth p0 (front Y d.+1) k = (score g, path g).
  move: (kf); rewrite /= size_map size_take_min leq_min => /andP[k1 k2].
  by rewrite (nth_map n0) ?nth_take // size_take_min leq_min k1.
rewrite fE in jn; have [_ gc gn] := parent_above tie_blind st kf jn.
have gp : g \in pool Y by rewrite poolP (cands_layer gc) gc (ltn_trans _ dd).
have gt : g \in take i (ranked Y).
  apply: (ranked_above (n0 := n0)) => //; rewrite -/n nE /f ld -/k fE; exact: gn.
have d1 : (d < depth)%N by apply: ltn_trans dd.
pose A := [seq z <- take i (ranked Y) | layer z == d].
have SA : sort before (cands Y d) = A ++ [seq z <- drop i (ranked Y) | layer z == d].
  by rewrite -(@ranked_layer T R more wt tie branching frontier depth) // -{1}(cat_take_drop i (ranked Y)) filter_cat.
have SA' : sort before (cands Y' d) = A ++ [seq z <- drop i (ranked Y') | layer z == d].
  by rewrite -(@ranked_layer T R more wt tie branching frontier depth) // -{1}(cat_take_drop i (ranked Y'))
    filter_cat -agree.
move: (kf); rewrite /= size_map size_take_min leq_min => /andP[k1 k2].
have kA : (k < size A)%N.
  have gA : g \in A by rewrite mem_filter (cands_layer gc) eqxx.
  have <- : index g (sort before (cands Y d)) = k by rewrite index_uniq ?sort_uniq ?cands_uniq.
  by rewrite SA index_cat gA index_mem.
have k2' : (k < size (sort before (expand Y' d (front Y' d))))%N.
  by rewrite -/(cands Y' d) SA' size_cat (leq_trans kA) // leq_addr.
split; first by rewrite size_map size_take_min leq_min k1.
rewrite (nth_map n0) ?nth_take ?size_take_min ?leq_min ?k1 //.
by rewrite -[RHS]/(nth p0 (front Y d.+1) k) fE -/(cands Y' d) SA' /g SA !nth_cat kA.
Qed.

Lemma same_sibs j : (j <= slot n)%N -> sib Y' f.2 j = sib Y f.2 j.
Proof.
have [kf jn nE] := n_place.
have step l : (l < slot n)%N -> Y f.2 (sib Y f.2 l) = Y' f.2 (sib Y f.2 l).
  move=> ln; have ln' := ltn_trans ln jn.
  pose m := place Y f (layer n) (prank n) l.
  have mp : m \in pool Y.
    by rewrite poolP n_depth; apply/candsP; exists (prank n), l; split.
  have : m \in take i (ranked Y).
    apply: (ranked_above (n0 := n0)) => //; rewrite -/n; apply: (above tie_blind); last by rewrite /= !eqxx ln orbT.
    rewrite nE /=; have [_ /(_ _ ln) wl _] := st jn.
    by apply: ler_wpmul2l => //; apply: (front_ge0 st); apply: mem_nth kf.
  rewrite agree => /mem_take; rewrite ranked_mem poolP => /andP[_ /cands_tok].
  by [].
by elim: j => //= j IH js; rewrite IH ?(ltnW js) // step.
Qed.

(** the slot at position [i] exists for [Y'] too, with the same rank, and has not been taken before *)
Lemma predict : exists m, [/\ m \in drop i (ranked Y'), rank m = rank n, ctx m = ctx n & sibs m = sibs n].
Proof.
have [kf jn nE] := n_place; have [kf' fE] := same_parent.
pose m := place Y' f (layer n) (prank n) (slot n).
have mr : rank m = rank n.
  rewrite nE /rank /= same_sibs // (wt_blind _ _ (Y' f.2 _) (Y f.2 (sib Y f.2 (slot n)))).
  by rewrite (tie_blind (Y' f.2 _) (Y f.2 (sib Y f.2 (slot n)))).
have mp : m \in pool Y'.
  rewrite poolP n_depth; apply/candsP; exists (prank n), (slot n); rewrite fE; split=> //.
  move: jn; rewrite !nslotsP => /andP[-> /allP al]; apply/allP => j ji.
  by rewrite same_sibs ?al //; move: ji; rewrite mem_iota add0n ltnS.
exists m; split=> //; [|by rewrite nE| by rewrite nE /= same_sibs].
move: mp; rewrite -ranked_mem -{1}(cat_take_drop i (ranked Y')) mem_cat => /orP[|//].
rewrite -agree => mt; have mpY : m \in pool Y by rewrite -ranked_mem (mem_take mt).
move: mt; rewrite (rank_inj mpY n_pool mr) => nt.
have := (ranked_uniq Y : uniq (ranked Y));
  rewrite -(cat_take_drop i (ranked Y)) cat_uniq => /and3P[_ /hasPn/(_ n) no _].
have nd : n \in drop i (ranked Y) by rewrite (drop_nth n0 isz) mem_head.
by case/negP: (no nd).
Qed.
End Predict.

Lemma ranked_predict Y Y' n0 i : steep Y -> steep Y' -> take i (ranked Y) = take i (ranked Y') ->
  (i < size (ranked Y))%N ->
  let n := nth n0 (ranked Y) i in let n' := nth n0 (ranked Y') i in
  [/\ (i < size (ranked Y'))%N, rank n' = rank n, ctx n' = ctx n & sibs n' = sibs n].
Proof.
move=> st st' ag isz n n'.
have [m [md mr mc ms]] := predict n0 st ag isz.
have isz' : (i < size (ranked Y'))%N by rewrite -subn_gt0 -size_drop; case: (drop i _) md.
have [m' [md' mr' _ _]] := predict n0 st' (esym ag) isz'.
have le1 := ranked_below n0 isz' md; have le2 := ranked_below n0 isz md'.
have rr : rank n' = rank n.
  by apply: le_anti; rewrite -{1}mr -{2}mr'; apply/andP; split.
have -> : n' = m; last by rewrite mr.
apply: (@rank_inj T R more wt tie branching frontier depth Y'); rewrite -?ranked_mem ?mem_nth ?(mem_drop md) //.
by rewrite rr mr.
Qed.

Lemma entries_ranked Y Y' i : steep Y -> steep Y' ->
  map entry (take i (ranked Y)) = map entry (take i (ranked Y')) -> take i (ranked Y) = take i (ranked Y').
Proof.
move=> st st'; elim: i => [|i IH]; first by rewrite !take0.
have sub (s s' : seq node) : map entry (take i.+1 s) = map entry (take i.+1 s') ->
  map entry (take i s) = map entry (take i s').
  move=> e; have := congr1 (take i) e; rewrite -!map_take !take_take //.
move=> e; have ag := IH (sub _ _ e).
have [lt|ge] := ltnP i (size (ranked Y)); last first.
  have [lt'|ge'] := ltnP i (size (ranked Y')); last first.
    by rewrite !take_oversize ?(leq_trans ge) ?(leq_trans ge') // in ag *.
  have n0 : node by case: (ranked Y') lt'.
  by have [] := ranked_predict n0 st' st (esym ag) lt'; rewrite ltnNge ge.
have n0 : node by case: (ranked Y) lt.
have [lt' rr cc ss] := ranked_predict n0 st st' ag lt.
move: e; rewrite !(take_nth n0) // !map_rcons ag => /(congr1 (last (entry n0))); rewrite !last_rcons => -[_ _ tt].
congr (rcons _ _); move: rr cc ss tt; rewrite /rank.
by case: (nth n0 (ranked Y) i) => a b c d e f g;
  case: (nth n0 (ranked Y') i) => a' b' c' d' e' f' g' /= [-> -> _ -> ->] -> -> ->.
Qed.

(** RANK INVARIANCE: which slot is kept next depends only on the tokens of the slots kept so far *)
Theorem build_predictable Y Y' i : steep Y -> steep Y' ->
  take i (map entry (build Y)) = take i (map entry (build Y')) ->
  ohead (drop i (map place_of (build Y))) = ohead (drop i (map place_of (build Y'))).
Proof.
move=> st st'; have [ge|lt] := leqP budget i.
  by move=> _; rewrite !drop_oversize // size_map size_take_min geq_min ge.
rewrite -!map_take /build !take_take ?(ltnW lt) // => /(entries_ranked st st') ag.
have head (Z : seq T -> seq T -> T) (n0 : node) : (i < size (ranked Z))%N ->
    ohead (drop i (map place_of (take budget (ranked Z)))) = Some (place_of (nth n0 (ranked Z) i)).
  by move=> sz; rewrite -map_drop (drop_nth n0) ?nth_take //= size_take_min leq_min lt.
have none (Z : seq T -> seq T -> T) : (size (ranked Z) <= i)%N ->
    ohead (drop i (map place_of (take budget (ranked Z)))) = None.
  by move=> sz; rewrite drop_oversize // size_map size_take_min geq_min sz orbT.
have [sz|sz] := ltnP i (size (ranked Y)).
  have n0 : node by case: (ranked Y) sz.
  have [sz' _ cc ss] := ranked_predict n0 st st' ag sz.
  by rewrite !(head _ n0) // /place_of cc ss.
have [sz'|sz'] := ltnP i (size (ranked Y')); last by rewrite !none.
have n0 : node by case: (ranked Y') sz'.
by have [] := ranked_predict n0 st' st (esym ag) sz'; rewrite ltnNge sz.
Qed.

End Invariance.
