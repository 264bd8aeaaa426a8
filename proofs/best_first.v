(** Best-first popping keeps the same nodes as the layer-wise loop.

    The exact engine never builds layers. It pops the best candidate of a heap, [budget] times; a popped node that is
    among the first [frontier] of its layer puts its children into the heap. The invariant is that after i pops the
    popped nodes are the first i of the ranked pool, and the heap holds the other nodes whose parent was popped. The
    best of all nodes that are left is among them, because a parent ranks above its children. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import ranking pool precedence rank_invariance kept.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section BestFirst.
Variables (T : eqType) (R : realFieldType).
Variables (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R) (tie : T -> nat).
Variables (branching frontier depth budget : nat).
Implicit Types (s h : seq T).
Local Notation node := (node T R).
Local Notation p0 := (p0 T R).
Local Notation path := (@path T R).
Local Notation rank := (@rank T R tie).
Local Notation before := (@before T R tie).
Local Notation nslots := (nslots more branching).
Local Notation place := (place wt).
Local Notation front := (front more wt tie branching frontier).
Local Notation cands := (cands more wt tie branching frontier).
Local Notation pool := (pool more wt tie branching frontier depth).
Local Notation ranked := (ranked more wt tie branching frontier depth).
Local Notation build := (build more wt tie branching frontier depth budget).
Local Notation steep := (steep more wt branching).
Variable Y : seq T -> seq T -> T.

(** the children of a node that is the k-th of its layer to be popped *)
Definition children k (e : node) : seq node :=
  [seq place Y (score e, path e) (layer e).+1 k i | i <- iota 0 (nslots Y (path e))].
Definition pushed (popped : seq node) (e : node) : seq node :=
  let k := count (fun z => layer z == layer e) popped in
  if (k < frontier)%N && ((layer e).+1 < depth)%N then children k e else [::].
Fixpoint pop n (heap popped : seq node) : seq node :=
  if n is n'.+1 then
    if sort before heap is e :: heap' then pop n' (heap' ++ pushed popped e) (rcons popped e) else popped
  else popped.
Definition best_first : seq node := pop budget (if (0 < depth)%N then cands Y 0 else [::]) [::].

Hypothesis tie_blind : forall x y, tie x = tie y.
Hypothesis st : steep Y.

(** the parent was popped *)
Definition opened (popped : seq node) (z : node) : bool :=
  if layer z is d.+1 then (prank z < count (fun a => layer a == d) popped)%N else true.

Lemma layer_split d i : (d < depth)%N -> sort before (cands Y d)
  = [seq z <- take i (ranked Y) | layer z == d] ++ [seq z <- drop i (ranked Y) | layer z == d].
Proof. by move=> dd; rewrite -filter_cat cat_take_drop ranked_layer. Qed.

(** the best node that is left has its parent popped *)
Lemma next_opened n0 i : (i < size (ranked Y))%N -> opened (take i (ranked Y)) (nth n0 (ranked Y) i).
Proof.
move=> isz; have [kf jn nE] := n_place n0 isz; have nd := n_depth n0 isz.
set n := nth n0 (ranked Y) i in kf jn nE nd *; rewrite /opened; case ld: (layer n) => [|d] //.
rewrite ld in kf jn nE nd; set k := prank n in kf jn nE *.
pose g := nth n0 (sort before (cands Y d)) k.
have gE : nth p0 (front Y d.+1) k = (score g, path g).
  move: (kf); rewrite /= size_map size_take_min leq_min => /andP[k1 k2].
  by rewrite (nth_map n0) ?nth_take // size_take_min leq_min k1.
rewrite gE in jn nE; have [_ gc gn] := parent_above tie_blind st kf jn.
have d1 : (d < depth)%N := ltn_trans (ltnSn d) nd.
have gp : g \in pool Y by rewrite poolP (cands_layer gc) gc d1.
have gt : g \in take i (ranked Y) by apply: (ranked_above (n0 := n0)) => //; rewrite -/n nE; exact: gn.
have gA : g \in [seq z <- take i (ranked Y) | layer z == d] by rewrite mem_filter (cands_layer gc) eqxx.
move: (kf); rewrite /= size_map size_take_min leq_min => /andP[_ k2].
have <- : index g (sort before (cands Y d)) = k by rewrite index_uniq ?sort_uniq ?cands_uniq.
by rewrite (layer_split i d1) index_cat gA -size_filter index_mem.
Qed.

(** the children of the i-th node: the nodes of the next layer that name it as their parent *)
Lemma pushed_mem n0 i z : (i < size (ranked Y))%N -> let e := nth n0 (ranked Y) i in
  (z \in pushed (take i (ranked Y)) e) =
  [&& z \in pool Y, layer z == (layer e).+1 & prank z == count (fun a => layer a == layer e) (take i (ranked Y))].
Proof.
move=> isz e; have ep : e \in pool Y by rewrite -ranked_mem mem_nth.
have /andP[ed ec] : (layer e < depth)%N && (e \in cands Y (layer e)) by rewrite -poolP.
set k := count _ _; have kE : nth n0 (sort before (cands Y (layer e))) k = e.
  rewrite (layer_split i ed) nth_cat size_filter ltnn subnn (drop_nth n0 isz) /= eqxx.
  by [].
have ks : (k < size (sort before (cands Y (layer e))))%N.
  by rewrite (layer_split i ed) size_cat size_filter -/k (drop_nth n0 isz) /= eqxx /= addnS ltnS leq_addr.
have fE : (k < frontier)%N -> nth p0 (front Y (layer e).+1) k = (score e, path e).
  move=> kf; rewrite /= (nth_map n0) ?size_take_min ?leq_min ?kf //.
  by rewrite nth_take // -/(cands Y (layer e)) kE.
have fs : (k < size (front Y (layer e).+1))%N = (k < frontier)%N.
  by rewrite /= size_map size_take_min leq_min ks andbT.
rewrite /pushed -/k; apply/idP/and3P => [|[]].
  case: ifP => // /andP[kf dd] /mapP[j]; rewrite mem_iota add0n => /= jn ->; split=> //.
  rewrite poolP /= dd; apply/candsP; exists k, j; rewrite fs kf fE //; split=> //.
rewrite poolP => /andP[zd /candsP[k' [j [kf' jn zE]]]] /eqP lz /eqP pz.
have kk : k' = k by rewrite -pz zE.
rewrite kk lz fs in kf' jn zE; rewrite kf' -lz zd /=; rewrite fE // in jn zE.
by apply/mapP; exists j; rewrite ?mem_iota.
Qed.

Lemma pool_ge0 z : z \in pool Y -> 0 <= score z.
Proof.
rewrite poolP => /andP[_ /candsP[k [i [kf ins ->]]]] /=; have [/andP[w0 _] _ _] := st ins.
by rewrite mulr_ge0 //; apply: (front_ge0 st); apply: mem_nth kf.
Qed.

Lemma child_below popped e z : e \in pool Y -> z \in pushed popped e -> (rank e < rank z)%O.
Proof.
move=> ep; rewrite /pushed; case: ifP => // _ /mapP[i]; rewrite mem_iota add0n => /= ins ->.
apply: (above tie_blind); last by rewrite /= ltnSn.
by have [/andP[w0 w1] _ _] := st ins; rewrite /= ler_pimulr // pool_ge0.
Qed.

Theorem pop_ranked n i heap : uniq heap ->
  (forall z, (z \in heap) = (z \in drop i (ranked Y)) && opened (take i (ranked Y)) z) ->
  pop n heap (take i (ranked Y)) = take (i + n) (ranked Y).
Proof.
elim: n i heap => [|n IH] i heap uh hE /=; first by rewrite addn0.
have [le|isz] := leqP (size (ranked Y)) i.
  have -> : heap = [::].
    by case: heap uh hE => // z heap _ /(_ z); rewrite mem_head drop_oversize.
  by rewrite /= !take_oversize // (leq_trans le) // leq_addr.
have n0 : node by case: (ranked Y) isz.
set r := nth n0 (ranked Y) i; have dr : drop i (ranked Y) = r :: drop i.+1 (ranked Y) by rewrite (drop_nth n0 isz).
have rh : r \in heap by rewrite hE dr mem_head next_opened.
case sE: (sort before heap) => [|e heap'].
  by move: rh; rewrite -(mem_sort before) sE.
have eh : e \in heap by rewrite -(mem_sort before) sE mem_head.
have er : e = r.
  have ed : e \in drop i (ranked Y) by move: eh; rewrite hE => /andP[].
  have br : before r e := ranked_below n0 isz ed.
  have be : before e r.
    have := sort_sorted (@before_total T R tie) heap;
      rewrite sE /= (path_sortedE (@before_trans T R tie)) => /andP[/allP al _].
    by move: rh; rewrite -(mem_sort before) sE inE => /orP[/eqP -> |/al //]; exact: lexx.
  apply: (@rank_inj T R more wt tie branching frontier depth Y).
  - by rewrite -ranked_mem (mem_drop ed).
  - by rewrite -ranked_mem mem_nth.
  - by apply: le_anti; rewrite /ranking.before in br be; rewrite be br.
have tS : rcons (take i (ranked Y)) e = take i.+1 (ranked Y) by rewrite er -take_nth.
have uD : uniq (drop i (ranked Y)) by rewrite drop_uniq // ranked_uniq.
have up : uniq (e :: heap') by rewrite -sE sort_uniq.
have hE' z : (z \in heap') = (z \in drop i.+1 (ranked Y)) && opened (take i (ranked Y)) z.
  have := hE z; rewrite -(mem_sort before) sE dr er !inE; have [->|//] := eqVneq z r.
  move: up uD; rewrite er dr /= => /andP[/negbTE -> _] /andP[/negbTE -> _]; by [].
have pE z : z \in pushed (take i (ranked Y)) e -> z \in drop i.+1 (ranked Y).
  move=> zc; have rz : (rank r < rank z)%O by rewrite -er; apply: child_below zc; rewrite er -ranked_mem mem_nth.
  move: zc; rewrite er pushed_mem // => /and3P[zp _ _].
  have : z \in ranked Y by rewrite ranked_mem.
  rewrite -{1}(cat_take_drop i.+1 (ranked Y)) mem_cat => /orP[zt|//].
  have ji : (index z (ranked Y) <= i)%N by rewrite -ltnS; apply: index_ltn zt.
  have rd : r \in drop (index z (ranked Y)) (ranked Y).
    have -> : r = nth n0 (drop (index z (ranked Y)) (ranked Y)) (i - index z (ranked Y)) by rewrite nth_drop subnKC.
    by rewrite mem_nth // size_drop ltn_sub2r // (leq_ltn_trans ji).
  have := ranked_below n0 (leq_ltn_trans ji isz) rd; rewrite nth_index ?(mem_take zt) // /ranking.before leNgt.
  by rewrite rz.
rewrite tS addnS -addSn; apply: IH.
  have uh' : uniq heap' by case/andP: up.
  rewrite cat_uniq uh' andTb; apply/andP; split.
    apply/hasPn => z; rewrite er pushed_mem // => /and3P[_ /eqP lz /eqP pz]; rewrite inE hE' negb_and; apply/orP; right.
    by rewrite /opened lz pz -leqNgt.
  rewrite /pushed; case: ifP => // _; rewrite map_inj_uniq ?iota_uniq // => a b.
  by case.
move=> z; rewrite mem_cat hE' -tS er.
have zo : opened (rcons (take i (ranked Y)) r) z = opened (take i (ranked Y)) z
    || (layer z == (layer r).+1) && (prank z == count (fun a => layer a == layer r) (take i (ranked Y))).
  rewrite /opened; case: (layer z) => [|d] //; rewrite -cats1 count_cat /= addn0 eqSS.
  have [->|ne] := eqVneq (layer r) d; first by rewrite addn1 ltnS leq_eqVlt orbC.
  by rewrite addn0 orbF.
rewrite zo andb_orr; congr (_ || _); apply/idP/andP => [zp|[zd zl]].
  by split; [apply: pE; rewrite er | move: zp; rewrite pushed_mem // => /and3P[_ -> ->]].
by rewrite pushed_mem //; rewrite -ranked_mem (mem_drop zd).
Qed.

(** THE TWO LOOPS KEEP THE SAME NODES, in the same order *)
Theorem best_first_build : best_first = build Y.
Proof.
rewrite /best_first /ranking.build -[X in pop _ _ X](take0 (ranked Y)) -[budget in RHS]add0n; apply: pop_ranked.
  by case: ifP => // _; apply: cands_uniq.
move=> z; rewrite drop0 take0 ranked_mem poolP /opened; case lz: (layer z) => [|d] /=.
  by case: ifP => // _; rewrite andbT.
by rewrite ltn0 andbF; apply/negbTE; case: ifP => // _; apply/negP => /cands_layer; rewrite lz.
Qed.
End BestFirst.
