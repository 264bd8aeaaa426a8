(** RHEOSAMPLING IS LOSSLESS: for any number of leads, slots, layers, frontier and budget, any drafter and target, any
    text of any length, under every honest verifier.

    The left side of each theorem is the law of the text that one cycle emits, completed by the target: the average
    over all draws Y of the chance that the walk down the tree built from Y spells the word w. The right side is the
    chance that the target alone spells w. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers walk draws predictable ranking dynamic rule steep.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Rheo.
Variables (T : finType) (R : realFieldType) (q : seq T -> T -> R) (lead branching : nat).
Hypothesis q_law : forall s, is_law (q s).
Implicit Types (s h : seq T) (x y : T).

Variables (frontier depth budget : nat) (p : seq T -> T -> R).
Hypothesis p_law : forall c, is_law (p c).

(** the probe's place, the draws' laws, and the tree of a draw *)
Definition sampled (k : place T branching depth) := size (val k.2) == lead.
Definition laws := @claim T R branching depth (law q lead).
Definition trees :=
  tree (@kept T R (more q) (rheo_weight q lead) (fun _ => 0%N) branching frontier depth budget (law q lead)).
Local Notation ctx := (@context_of T branching depth).

Theorem rheo_lossless rule w : honest laws rule -> (forall c y, rule (p c) [::] y = p c y) ->
  \sum_Y weight laws Y * emit ctx rule p (target p) (trees Y) [::] w = target p [::] w.
Proof.
by move=> ho st; apply: dynamic_lossless => //; [exact: law_ok | exact: rheo_steep].
Qed.

Corollary rheo_recursive w :
  \sum_Y weight laws Y * emit ctx (fun r => recursive laws r r) p (target p) (trees Y) [::] w = target p [::] w.
Proof. by apply: rheo_lossless => //; apply: honest_recursive => k; apply: law_ok. Qed.

Corollary rheo_rheo w :
  \sum_Y weight laws Y * emit ctx (rheo laws sampled) p (target p) (trees Y) [::] w = target p [::] w.
Proof. by apply: rheo_lossless => //; apply: honest_rheo => k; apply: law_ok. Qed.

End Rheo.
Arguments laws {T R} q lead branching depth.
Arguments trees {T R} q lead branching frontier depth budget.

(** TOP-K is the case of as many leads as slots: no token is drawn, every claim is one-hot *)
Lemma top_k_one_hot (T : finType) (R : realFieldType) (q : seq T -> T -> R) branching s h b l :
  (size h < branching)%N -> rest q s h = b :: l -> law q branching s h =1 point R b.
Proof. by move=> hb e x; rewrite /law e ltn_eqF. Qed.

Corollary top_k_lossless (T : finType) (R : realFieldType) (q : seq T -> T -> R) branching frontier depth budget
    (p : seq T -> T -> R) rule w :
  (forall s, is_law (q s)) -> (forall c, is_law (p c)) -> honest (laws q branching branching depth) rule ->
  (forall c y, rule (p c) [::] y = p c y) ->
  \sum_Y weight (laws q branching branching depth) Y *
     emit (@context_of T branching depth) rule p (target p) (trees q branching branching frontier depth budget Y) [::] w
  = target p [::] w.
Proof. by move=> ql pl ho st; apply: rheo_lossless. Qed.
