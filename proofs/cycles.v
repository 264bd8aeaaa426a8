(** Any number of draft-verify cycles, each with fresh draws.

    A cycle that is lossless after every text may be followed by another: the text after n cycles, completed by the
    target, has the target's law. The drafter may change with the text and with the cycle; what may not happen is that a
    cycle reuses the draws of an earlier one. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers walk draws predictable ranking dynamic rule rheo_sampling.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Cycles.
Variables (T : finType) (R : realFieldType) (p : seq T -> T -> R).
Variables (K : eqType) (D : finType) (ctx : K -> seq T) (rule : nat -> seq T -> (T -> R) -> seq (K * T) -> T -> R).
(** with [m] cycles to go, after the text [c]: the verifier, the law of the draws, and the tree they build *)
Variables (weight : nat -> seq T -> D -> R) (tree : nat -> seq T -> D -> seq (K * T)).
Definition after c s := p (c ++ s).

(** [n] more cycles after the text [c], completed by the target, spell [w] *)
Fixpoint generate n c w : R :=
  if n is m.+1 then
    \sum_Y weight m c Y * emit ctx (rule m c) (after c) (fun d => generate m (c ++ d)) (tree m c Y) [::] w
  else target p c w.

Lemma target_after c d w : target (after c) d w = target p (c ++ d) w.
Proof. by elim: w d => [//|y w IH] d /=; rewrite IH rcons_cat. Qed.

Lemma emit_rest r q (f g : seq T -> seq T -> R) t c w : (forall d v, f d v = g d v) ->
  emit ctx r q f t c w = emit ctx r q g t c w.
Proof. by move=> fg; elim: w c => [//|y w IH] c /=; rewrite IH fg. Qed.

Hypothesis one_cycle : forall m c w,
  \sum_Y weight m c Y * emit ctx (rule m c) (after c) (target (after c)) (tree m c Y) [::] w = target (after c) [::] w.

Theorem cycles_lossless n c w : generate n c w = target p c w.
Proof.
elim: n c w => [//|n IH] c w /=; rewrite -[in RHS](cats0 c) -target_after -(one_cycle n).
by apply: eq_bigr => Y _; congr (_ * _); apply: emit_rest => d v; rewrite IH target_after.
Qed.
End Cycles.

(** RHEOSAMPLING, ANY NUMBER OF CYCLES *)
Section Rheo.
Variables (T : finType) (R : realFieldType) (q : nat -> seq T -> seq T -> T -> R) (p : seq T -> T -> R).
Variables (lead branching frontier depth budget : nat).
Hypothesis q_law : forall m c s, is_law (q m c s).
Hypothesis p_law : forall s, is_law (p s).
Local Notation laws_at m c := (laws (q m c) lead branching depth).
Local Notation generate rule := (generate p (@context_of T branching depth) rule (fun m c => weight (laws_at m c))
  (fun m c => trees (q m c) lead branching frontier depth budget)).

Theorem honest_cycles rule n c w : (forall m c, honest (laws_at m c) (rule m c)) ->
  (forall m c s y, rule m c (p s) [::] y = p s y) -> generate rule n c w = target p c w.
Proof.
by move=> ho st; apply: cycles_lossless => m d v; apply: rheo_lossless => // [s|s y]; [apply: p_law | apply: st].
Qed.

Corollary rheo_cycles n c w :
  generate (fun m c => rheo (laws_at m c) (@sampled T lead branching depth)) n c w = target p c w.
Proof. by apply: honest_cycles => // m d; apply: honest_rheo => k; apply: law_ok. Qed.

Corollary recursive_cycles n c w :
  generate (fun m c r => recursive (laws_at m c) r r) n c w = target p c w.
Proof. by apply: honest_cycles => // m d; apply: honest_recursive => k; apply: law_ok. Qed.
End Rheo.
