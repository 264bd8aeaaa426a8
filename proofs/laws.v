(** Laws over a finite vocabulary.

    A law is a non-negative function that sums to 1, over any ordered field: nothing here needs real numbers. A token
    that was not drawn has the law [point x], which is what the code calls one-hot. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Laws.
Variables (T : finType) (R : realFieldType).
Implicit Types (p : T -> R) (x y : T).

Definition is_law p := (forall x, 0 <= p x) /\ \sum_x p x = 1.

(** the law of a token that was not drawn at all *)
Definition point x : T -> R := fun y => (y == x)%:R.

Lemma point_law x : is_law (point x).
Proof.
split=> [y|]; first exact: ler0n.
by rewrite (bigD1 x) //= /point eqxx big1 ?addr0 // => y /negbTE ->.
Qed.

Lemma sum_point (f : T -> R) y : \sum_x f x * (y == x)%:R = f y.
Proof.
rewrite (bigD1 y) //= eqxx mulr1 big1 ?addr0 // => x; rewrite eq_sym => /negbTE ->.
by rewrite mulr0.
Qed.

End Laws.
