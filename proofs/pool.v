(** The layers and the pool, before anything is assumed: who is in them, and that no node is in them twice.

    [ranked_above] is the fact that the proof of rank invariance turns on: the ranked list is sorted, so whatever ranks
    strictly above its i-th node is among its first i nodes. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import ranking.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Pool.
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

Lemma before_total : total before. Proof. by move=> a b; exact: le_total. Qed.
Lemma before_trans : transitive before. Proof. by move=> a b c; exact: le_trans. Qed.

Lemma size_sib Y s i : size (sib Y s i) = i.
Proof. by elim: i => //= i IH; rewrite size_rcons IH. Qed.

Lemma nslotsP Y s i : (i < nslots Y s)%N = (i < branching)%N && all (fun j => more s (sib Y s j)) (iota 0 i.+1).
Proof.
rewrite /nslots; set a := fun i => _; have bs := find_size a (iota 0 branching); rewrite size_iota in bs.
apply/idP/andP => [lt|[ib /allP al]].
  have ib := leq_trans lt bs; split=> //; apply/allP => j; rewrite mem_iota add0n ltnS => /= ji.
  have := before_find 0%N (leq_ltn_trans ji lt).
  by rewrite nth_iota ?(leq_ltn_trans ji) // add0n /a => /negbFE.
rewrite ltnNge; apply/negP => le.
have hs : has a (iota 0 branching) by rewrite has_find size_iota (leq_ltn_trans le).
have := nth_find 0%N hs; rewrite nth_iota ?add0n; last by rewrite (leq_ltn_trans le).
by rewrite /a al // mem_iota add0n ltnS.
Qed.

Lemma candsP Y d n : reflect
  (exists k i, [/\ (k < size (front Y d))%N, (i < nslots Y (nth p0 (front Y d) k).2)%N
                 & n = place Y (nth p0 (front Y d) k) d k i]) (n \in cands Y d).
Proof.
apply: (iffP allpairsPdep) => -[k [i]]; rewrite ?mem_iota => -[a b c];
 by exists k, i; rewrite ?mem_iota; split.
Qed.

Lemma poolP Y n : (n \in pool Y) = (layer n < depth)%N && (n \in cands Y (layer n)).
Proof.
apply/flattenP/andP => [[_ /mapP[d dd ->] nd]|[ld nl]]; last first.
  by exists (cands Y (layer n)) => //; apply: map_f; rewrite mem_iota.
have /candsP[k [i [_ _ e]]] := nd; move: nd; rewrite e /= => nd.
by move: dd; rewrite mem_iota.
Qed.

Lemma cands_place Y d n : n \in cands Y d -> n = place Y (nth p0 (front Y d) (prank n)) (layer n) (prank n) (slot n).
Proof. by case/candsP => k [i [_ _ ->]]. Qed.
Lemma cands_layer Y d n : n \in cands Y d -> layer n = d.
Proof. by case/candsP => k [i [_ _ ->]]. Qed.
Lemma cands_tok Y d n : n \in cands Y d -> tok n = Y (ctx n) (sibs n).
Proof. by case/candsP => k [i [_ _ ->]]. Qed.

Lemma cands_uniq Y d : uniq (cands Y d).
Proof.
apply: allpairs_uniq_dep => [||[k i] [k' i'] _ _ /= [_ -> ->]//]; first exact: iota_uniq.
by move=> k _; apply: iota_uniq.
Qed.

Lemma rank_inj Y a b : a \in pool Y -> b \in pool Y -> rank a = rank b -> a = b.
Proof.
rewrite !poolP => /andP[_ aa] /andP[_ bb] [_ l _ p i].
by rewrite (cands_place aa) (cands_place bb) l p i.
Qed.

Lemma pool_layer Y d : (d < depth)%N -> [seq n <- pool Y | layer n == d] = cands Y d.
Proof.
rewrite /pool filter_flatten -map_comp => dd.
rewrite (@eq_map _ _ _ (fun e => if e == d then cands Y d else [::])); last first.
  move=> e /=; case: eqP => [->|/eqP ne].
    by apply/all_filterP/allP => n /cands_layer ->.
  by rewrite -(filter_pred0 (cands Y e)); apply: eq_in_filter => n /cands_layer ->; rewrite (negbTE ne).
have: d \in iota 0 depth by rewrite mem_iota.
elim: (iota 0 depth) (iota_uniq 0 depth) => //= e l IH /andP[el ul]; rewrite inE eq_sym.
case: eqP => [ed _|_ /= dl]; last exact: IH.
rewrite -[RHS]cats0; congr (_ ++ _); move: el; rewrite ed => {IH ul}.
elim: l => //= e' l IH; rewrite inE negb_or => /andP[/negbTE]; rewrite eq_sym => -> dl.
exact: IH.
Qed.

Lemma pool_uniq Y : uniq (pool Y).
Proof.
apply: count_mem_uniq => n.
have [np|np] := boolP (n \in pool Y); last by rewrite (count_memPn np).
have /andP[ld nl] : (layer n < depth)%N && (n \in cands Y (layer n)) by rewrite -poolP.
have := cands_uniq Y (layer n); rewrite -pool_layer // => u.
have := count_uniq_mem n u; rewrite mem_filter eqxx np /= => <-.
by rewrite count_filter; apply: eq_count => z /=; case: eqP => // ->; rewrite eqxx.
Qed.

Lemma ranked_mem Y : ranked Y =i pool Y. Proof. exact: mem_sort. Qed.
Lemma ranked_uniq Y : uniq (ranked Y). Proof. by rewrite sort_uniq pool_uniq. Qed.

Lemma ranked_layer Y d : (d < depth)%N -> [seq n <- ranked Y | layer n == d] = sort before (cands Y d).
Proof. by move=> dd; rewrite filter_sort ?pool_layer //; [exact: before_total | exact: before_trans]. Qed.

(** the ranked list is sorted, so what ranks strictly above the i-th node is among the first i *)
Lemma ranked_above Y n0 i n : (i < size (ranked Y))%N -> n \in pool Y ->
  (rank n < rank (nth n0 (ranked Y) i))%O -> n \in take i (ranked Y).
Proof.
move=> isz; rewrite -ranked_mem -{1}(cat_take_drop i (ranked Y)) mem_cat => /orP[//|nd] lt.
have := sort_sorted before_total (pool Y); rewrite -/(ranked Y) => srt.
have : sorted before (drop i (ranked Y)) by apply: drop_sorted.
move: nd; rewrite (drop_nth n0 isz) inE => /orP[/eqP e|nd] /=; first by move: lt; rewrite e ltxx.
rewrite (path_sortedE before_trans) => /andP[/allP/(_ n nd)].
by rewrite /before leNgt lt.
Qed.

Lemma ranked_below Y n0 i n : (i < size (ranked Y))%N -> n \in drop i (ranked Y) -> before (nth n0 (ranked Y) i) n.
Proof.
move=> isz nd; have := sort_sorted before_total (pool Y); rewrite -/(ranked Y) => srt.
have : sorted before (drop i (ranked Y)) by apply: drop_sorted.
move: nd; rewrite (drop_nth n0 isz) inE => /orP[/eqP -> _|nd] /=; first exact: lexx.
by rewrite (path_sortedE before_trans) => /andP[/allP/(_ n nd)].
Qed.

End Pool.

Arguments ranked_mem {T R more wt tie branching frontier depth} Y.
Arguments ranked_uniq {T R more wt tie branching frontier depth} Y.
Arguments pool_uniq {T R more wt tie branching frontier depth} Y.
