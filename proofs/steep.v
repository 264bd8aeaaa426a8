(** RheoSampling's weights are what losslessness asks for: blind, within [0, 1], and non-increasing along the slots.

    The proxy min{q(last lead), z} does not exceed the last lead's weight, and is at least the weight of every fill, for
    z is at least the probability of any token of the tail. All tokens that can be drawn are distinct. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws ranking pool rule.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Steep.
Variables (T : finType) (R : realFieldType) (q : seq T -> T -> R) (lead branching : nat).
Hypothesis q_law : forall s, is_law (q s).
Implicit Types (s h : seq T) (x y : T).

Local Notation law := (law q lead).
Local Notation more := (more q).
Local Notation rest := (rest q).
Local Notation top := (top q).
Local Notation tail := (tail q).
Local Notation proxy := (proxy q).

Variable Z : seq T -> seq T -> T.
Hypothesis Zok : forall s h, law s h (Z s h) != 0.

Lemma fresh s h : more s h -> Z s h \notin h.
Proof.
move=> mo; have [b [l [e _ _ bh]]] := topE mo; have := Zok s h; rewrite /rule.law e.
case: (size h =P lead) => _; first by case: (boolP (_ \in h)) => //; rewrite eqxx.
by rewrite /point; have [-> //|_] := eqVneq (Z s h) b; rewrite eqxx.
Qed.

Lemma not_lead s h : more s h -> size h != lead -> q s (Z s h) = top s h.
Proof.
move=> mo /negbTE nl; have [b [l [e te _ bh]]] := topE mo; have := Zok s h; rewrite /rule.law e nl /point.
by have [-> //|_] := eqVneq (Z s h) b; rewrite eqxx.
Qed.

Lemma sib_sub s i j : (j <= i)%N -> {subset sib Z s j <= sib Z s i}.
Proof.
elim: i => [|i IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP[/eqP -> //|/IH sub] x /sub xi; by rewrite mem_rcons inE xi orbT.
Qed.

Lemma top_anti s i j : (j <= i)%N -> more s (sib Z s i) -> top s (sib Z s i) <= top s (sib Z s j).
Proof.
move=> ji mo; have [b [l [_ -> _ bi]]] := topE mo.
by apply: (top_ge q_law); apply: contra bi => /(sib_sub ji).
Qed.

Lemma proxyS s j : proxy s (sib Z s j.+1) = Num.min (q s (Z s (sib Z s j))) (tail s (sib Z s j.+1)).
Proof.
rewrite /rule.proxy /=; set x := Z s _; case e: (rcons _ x) => [|a h]; first by case: (sib Z s j) e.
by rewrite -(last_cons x) -e last_rcons.
Qed.

Theorem rheo_steep : steep more (rheo_weight q lead) branching Z.
Proof.
move=> s i ins; have alm j : (j <= i)%N -> more s (sib Z s j).
  by move=> ji; move: ins; rewrite nslotsP => /andP[_ /allP]; apply; rewrite mem_iota add0n ltnS.
have mi := alm i (leqnn i); have [b [l [_ te b0 bi]]] := topE mi.
have top1 : 0 <= top s (sib Z s i) <= 1 by rewrite te (q_ge0 q_law) (q_le1 q_law).
split; [| |exact: fresh]; rewrite /rheo_weight /slot_weight !size_sib.
  case: eqP => // _; case: (i) mi => [|j] mj; first by have [c [l' [_ tc _ _]]] := topE mj;
    rewrite /rule.proxy /= tc (q_ge0 q_law) (q_le1 q_law).
  rewrite proxyS le_minr (q_ge0 q_law) /= le_minl (q_le1 q_law) andbT.
  by apply: sumr_ge0 => *; apply: (q_ge0 q_law).
move=> j ji; rewrite size_sib; have mj := alm j (ltnW ji).
case: (i =P lead) => [il|_].
  have jl : size (sib Z s j) != lead by rewrite size_sib -il neq_ltn ji.
  case: i il ji mi alm {ins top1 te bi} => [//|k] kl jk mk alm; rewrite size_sib in jl; rewrite (negbTE jl).
  have kn : size (sib Z s k) != lead by rewrite size_sib -kl neq_ltn ltnSn.
  by rewrite proxyS le_minl (not_lead _ kn) ?alm // top_anti ?alm.
case: (j =P lead) => [jl|_]; last exact: top_anti (ltnW ji) mi.
case: j jl ji mj => [|k] kl ki mk; first exact: (@top_anti s i 0%N).
have kn : size (sib Z s k) != lead by rewrite size_sib -kl neq_ltn ltnSn.
rewrite proxyS le_minr (not_lead _ kn) ?alm ?(ltnW (ltnW ki)) // top_anti // ?(ltnW (ltnW ki)) //=.
by rewrite te (tail_ge q_law) //; apply: contra bi => /(sib_sub (ltnW ki)).
Qed.

End Steep.
