(** Survival does not depend on the draw: a slot's fate in the budget cut and in the cut of its layer is the same
    whatever token it drew. (The slots behind it, and what hangs below it, do depend on that token.) *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import ranking pool precedence rank_invariance kept.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma take_filter_count (A : eqType) (a : pred A) (l : seq A) x0 j n : uniq l -> (j < size l)%N -> a (nth x0 l j) ->
  (nth x0 l j \in take n [seq z <- l | a z]) = (count a (take j l) < n)%N.
Proof.
move=> ul sz; set x := nth x0 l j => ax.
have xl : x \in [seq z <- l | a z] by rewrite mem_filter ax mem_nth.
rewrite in_take // -{1}(cat_take_drop j l) filter_cat index_cat (drop_nth x0 sz) -/x /= ax /= eqxx addn0.
rewrite mem_filter ax /= size_filter; case: ifP => // xt.
by move: ul; rewrite -(cat_take_drop j l) cat_uniq (drop_nth x0 sz) -/x /= xt andbF.
Qed.

Section Survival.
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

(** in particular: whether a slot survives the cuts does not depend on the token drawn for it *)
Lemma entriesE Y : map entry (build Y) = [seq (k, Y k.1 k.2) | k <- map place_of (build Y)].
Proof. by rewrite -map_comp; apply/eq_in_map => n nb; rewrite /entry (build_tok nb). Qed.

Lemma take1 (A : Type) (l : seq A) : take 1 l = if ohead l is Some x then [:: x] else [::].
Proof. by case: l => [|x [|y l]]. Qed.

Lemma survive_sub Y Y' s h : steep Y -> steep Y' ->
  (forall k, k != (s, h) -> Y k.1 k.2 = Y' k.1 k.2) ->
  (s, h) \notin map place_of (build Y) -> map place_of (build Y) = map place_of (build Y').
Proof.
move=> st st' off no; have gen i : take i (map place_of (build Y)) = take i (map place_of (build Y')).
  elim: i => [|i IH]; first by rewrite !take0.
  rewrite -addn1 !takeD IH; congr (_ ++ _);
    rewrite !take1 (build_predictable (budget := budget) tie_blind wt_blind (i := i) st st') //.
  have tk (B : Type) (f : seq T * seq T -> B) l : take i (map f l) = map f (take i l) by rewrite map_take.
  rewrite !entriesE !tk -IH; apply/eq_in_map => k /mem_take kb /=; rewrite off //.
  by apply: contraNneq no => <-.
have := gen (maxn (size (map place_of (build Y))) (size (map place_of (build Y')))).
by rewrite !take_oversize ?leq_maxl ?leq_maxr.
Qed.

Theorem survival Y Y' s h : steep Y -> steep Y' ->
  (forall k, k != (s, h) -> Y k.1 k.2 = Y' k.1 k.2) ->
  ((s, h) \in map place_of (build Y)) = ((s, h) \in map place_of (build Y')).
Proof.
move=> st st' off; apply/idP/idP => yes; apply: contraLR yes => no.
  by rewrite -(survive_sub st' st (fun k ne => esym (off k ne)) no).
by rewrite -(survive_sub st st' off no).
Qed.

(** the same for the frontier of each layer *)
Lemma ranked_places Y : steep Y -> uniq (map place_of (ranked Y)).
Proof.
move=> st; rewrite map_inj_in_uniq ?ranked_uniq // => a b.
rewrite !ranked_mem !poolP => /andP[_ /[dup] ac /candsP[k [i [kf ins ea]]]].
move=> /andP[_ /[dup] bc /candsP[k' [i' [kf' ins' eb]]]] [cc ss].
have ll : layer a = layer b.
  rewrite -(front_size (mem_nth p0 kf)) -(front_size (mem_nth p0 kf')).
  by move: cc; rewrite {1}ea {1}eb /= => ->.
by apply: (@cands_path T R more wt tie branching frontier Y (layer a) st (front_paths _ _ _ st));
  rewrite // ?ll // /path cc (cands_tok ac) (cands_tok bc) cc ss.
Qed.

Lemma ranked_tok Z n0 j : (j < size (ranked Z))%N -> let n := nth n0 (ranked Z) j in tok n = Z (ctx n) (sibs n).
Proof. by move=> sz n; have := mem_nth n0 sz; rewrite ranked_mem poolP => /andP[_ /cands_tok]. Qed.

(** up to the slot whose token was changed the ranked lists are the same *)
Lemma ranked_agree Y Y' n j : steep Y -> steep Y' -> n \in ranked Y ->
  (forall k, k != place_of n -> Y k.1 k.2 = Y' k.1 k.2) ->
  (j <= index n (ranked Y))%N -> take j (ranked Y) = take j (ranked Y').
Proof.
move=> st st' np off; have isz : (index n (ranked Y) < size (ranked Y))%N by rewrite index_mem.
elim: j => [|j IH] ji; first by rewrite !take0.
have jsz := ltn_trans ji isz; have [jsz' rr cc ss] := ranked_predict tie_blind wt_blind n st st' (IH (ltnW ji)) jsz.
apply: (entries_ranked tie_blind wt_blind) => //; rewrite !(take_nth n) // !map_rcons IH ?(ltnW ji) //.
congr (rcons _ _); rewrite /entry cc ss; congr (_, _); rewrite !ranked_tok // cc ss.
apply: (off (ctx (nth n (ranked Y) j), sibs (nth n (ranked Y) j))).
rewrite -[(_, _)]/(place_of (nth n (ranked Y) j)) -{2}(nth_index n np) -!(nth_map n (place_of n)) //.
by rewrite nth_uniq ?size_map ?ranked_places // neq_ltn ji.
Qed.

(** a node is in the frontier of its layer if few nodes of the layer rank above it *)
Lemma frontier_count Z n0 j d : (d < depth)%N -> (j < size (ranked Z))%N -> layer (nth n0 (ranked Z) j) = d ->
  (nth n0 (ranked Z) j \in frontier_at Z d) = (count (fun z => layer z == d) (take j (ranked Z)) < frontier)%N.
Proof.
move=> dd sz xd; rewrite /ranking.frontier_at -(@ranked_layer T R more wt tie branching frontier depth) //.
by rewrite take_filter_count ?ranked_uniq // xd.
Qed.

Lemma front_survive_sub Y Y' s h d : (d < depth)%N -> steep Y -> steep Y' ->
  (forall k, k != (s, h) -> Y k.1 k.2 = Y' k.1 k.2) ->
  (s, h) \in map place_of (frontier_at Y d) -> (s, h) \in map place_of (frontier_at Y' d).
Proof.
move=> dd st st' off /mapP[n nf nE]; rewrite nE in off *.
have nc : n \in cands Y d by rewrite -(mem_sort before) (mem_take nf).
have np : n \in ranked Y by rewrite ranked_mem poolP (cands_layer nc) dd.
have isz : (index n (ranked Y) < size (ranked Y))%N by rewrite index_mem.
have ag := ranked_agree st st' np off (leqnn _).
have [isz' rr cc ss] := ranked_predict tie_blind wt_blind n st st' ag isz.
have nn : nth n (ranked Y) (index n (ranked Y)) = n := nth_index n np.
have ln : layer (nth n (ranked Y) (index n (ranked Y))) = d by rewrite nn (cands_layer nc).
have ld : layer (nth n (ranked Y') (index n (ranked Y))) = d by case: rr => _ -> _ _ _.
apply/mapP; exists (nth n (ranked Y') (index n (ranked Y))); last by rewrite /place_of cc ss nn.
by rewrite frontier_count // -ag -(frontier_count dd isz ln) nn.
Qed.

Theorem frontier_survival Y Y' s h d : (d < depth)%N -> steep Y -> steep Y' ->
  (forall k, k != (s, h) -> Y k.1 k.2 = Y' k.1 k.2) ->
  ((s, h) \in map place_of (frontier_at Y d)) = ((s, h) \in map place_of (frontier_at Y' d)).
Proof.
move=> dd st st' off; apply/idP/idP; first exact: (front_survive_sub dd st st' off).
by apply: (front_survive_sub dd st' st) => k ne; rewrite off.
Qed.

End Survival.
