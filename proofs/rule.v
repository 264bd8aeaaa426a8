(** The rule of one node: RheoSampling (rheocheck.core.builders.rheo), and its relatives.

    [lead] best tokens, then one probe drawn from the rest under a proxy weight, then the next best tokens ("fills").
    [naive_weight] ranks the probe by its own probability; [low_weight] puts it below its fills; both are wrong, and
    counterexamples.v says how wrong. With [lead] >= the number of slots nothing is drawn: that is top-K. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws ranking.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Rule.
Variables (T : finType) (R : realFieldType) (q : seq T -> T -> R) (lead branching : nat).
Hypothesis q_law : forall s, is_law (q s).
Implicit Types (s h : seq T) (x y : T).

(** best first; equal tokens in the order of the vocabulary (rheocheck.core.builders.order) *)
Definition order s := sort (fun x y => q s y <= q s x) (enum T).
(** what the drafter may still propose after the elder siblings h, and whether there is anything *)
Definition rest s h := [seq x <- order s | (0 < q s x) && (x \notin h)].
Definition more s h := rest s h != [::].
(** the probability of the best of the rest, and of all of it: z in the code *)
Definition top s h : R := if rest s h is b :: _ then q s b else 0.
Definition tail s h : R := \sum_(x | x \notin h) q s x.
(** the rank weight of the probe: min{q(last lead), z}, or q of the best token when there is no lead *)
Definition proxy s h : R := if h is a :: h' then Num.min (q s (last a h')) (tail s h) else top s h.

(** Rank weights: the slot after [lead] siblings is the probe, and the builders differ in its weight alone. *)
Definition slot_weight (probe : seq T -> seq T -> T -> R) s h x : R := if size h == lead then probe s h x else top s h.
Definition rheo_weight := slot_weight (fun s h _ => proxy s h).
Definition naive_weight := slot_weight (fun s _ x => q s x).
Definition low_weight (c : R) := slot_weight (fun s h _ => proxy s h * c).

(** the law of the next slot's token: a point mass, or for the probe q~ = q/z on the rest *)
Definition law s h x : R :=
  if rest s h is b :: _ then
    if size h == lead then (if x \in h then 0 else q s x / tail s h) else point R b x
  else q s x.

Lemma q_ge0 s x : 0 <= q s x. Proof. by have [] := q_law s. Qed.
Lemma q_le1 s x : q s x <= 1.
Proof.
have [q0 <-] := q_law s; rewrite (bigD1 x) //= ler_addl; exact: sumr_ge0.
Qed.

Lemma rest_mem s h x : (x \in rest s h) = (0 < q s x) && (x \notin h).
Proof. by rewrite mem_filter mem_sort mem_enum andbT. Qed.

Lemma topE s h : more s h -> exists b l, [/\ rest s h = b :: l, top s h = q s b, 0 < q s b & b \notin h].
Proof.
rewrite /more /top; case e: (rest s h) => [//|b l] _; exists b, l.
by have := mem_head b l; rewrite -e rest_mem => /andP[].
Qed.

Lemma top_ge0 s h : 0 <= top s h.
Proof. by rewrite /top; case: rest => // b l; apply: q_ge0. Qed.

Lemma top_ge s h x : x \notin h -> q s x <= top s h.
Proof.
move=> xh; have [q0|q0] := leP (q s x) 0; first exact: le_trans q0 (top_ge0 s h).
have tot : total (fun x y => q s y <= q s x) by move=> a b; apply: le_total.
have tr : transitive (fun x y => q s y <= q s x) by move=> b a c ab bc; apply: le_trans bc ab.
have srt : sorted (fun x y => q s y <= q s x) (rest s h) by apply: sorted_filter => //; apply: sort_sorted.
have : x \in rest s h by rewrite rest_mem q0 xh.
rewrite /top; case: (rest s h) srt => //= b l; rewrite (path_sortedE tr) inE => /andP[/allP al _].
by case/orP => [/eqP ->|/al].
Qed.

Lemma tail_ge s h x : x \notin h -> q s x <= tail s h.
Proof. by move=> xh; rewrite /tail (bigD1 x) //= ler_addl; apply: sumr_ge0 => *; apply: q_ge0. Qed.

Lemma law_ok s h : is_law (law s h).
Proof.
rewrite /law; case e: (rest s h) => [|b l]; first exact: q_law.
have [b0 bh] : 0 < q s b /\ b \notin h by apply/andP; rewrite -rest_mem e mem_head.
case: eqP => _; last exact: point_law.
have t0 : 0 < tail s h := lt_le_trans b0 (tail_ge s bh).
split=> [x|]; first by case: ifP => // _; rewrite divr_ge0 ?q_ge0 // ltW.
rewrite (bigID (fun x => x \in h)) /= big1 ?add0r => [|x ->//].
rewrite (eq_bigr (fun x => q s x / tail s h)) => [|x /negbTE -> //].
by rewrite -mulr_suml mulfV // gt_eqF.
Qed.

End Rule.
