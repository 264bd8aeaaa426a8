(** Drawing everything first, or each token when it is needed.

    The randomness of a builder is one independent draw for every slot that may come up. Mathematically it is simplest
    to draw them all in advance; a program draws a token when it looks at it. [eager_lazy] says that the two have the
    same law, whatever the program does with what it has seen, as long as it never draws a slot twice. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers walk.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Lazy.
Variables (T : finType) (R : realFieldType) (K : Type) (claim : K -> T -> R) (next : seq (K * T) -> option K).

(** a program that draws the slot [next] names, at most [n] times, and hands what it drew to [f] *)
Fixpoint lazy n t (f : seq (K * T) -> R) : R :=
  if n is n'.+1 then
    if next t is Some k then \sum_x claim k x * lazy n' (rcons t (k, x)) f else f t
  else f t.
End Lazy.

Section Draws.
Variables (T : finType) (R : realFieldType) (K : finType) (claim : K -> T -> R).
Hypothesis claim_law : forall k, is_law (claim k).
Implicit Types (Y : {ffun K -> T}) (t : seq (K * T)).

(** one independent draw per potential node *)
Definition weight Y : R := \prod_k claim k (Y k).
Definition agree t Y := all (fun e => Y e.1 == e.2) t.
Definition keys t : seq K := [seq e.1 | e <- t].

Lemma agree_weight t : uniq (keys t) -> \sum_Y weight Y * (agree t Y)%:R = \prod_(e <- t) claim e.1 e.2.
Proof.
move=> ut; pose g k x := claim k x * \prod_(e <- t | e.1 == k) (x == e.2)%:R.
transitivity (\sum_(Y : {ffun K -> T}) \prod_k g k (Y k)).
  apply: eq_bigr => Y _; rewrite big_split /=; congr (_ * _).
  have -> : (agree t Y)%:R = \prod_(e <- t) (Y e.1 == e.2)%:R :> R.
    by elim: (t) => [|e s IH]; rewrite ?big_nil // big_cons /= -IH -natrM mulnb.
  rewrite (exchange_big_dep predT) //=; apply: eq_bigr => e _.
  by rewrite (big_pred1 e.1) // => k; rewrite eq_sym.
rewrite -(bigA_distr_bigA g) /g {g}.
elim: t ut => [|[k x] t IH] /=.
  by move=> _; rewrite big_nil big1 // => k _; under eq_bigr do rewrite big_nil mulr1; rewrite (proj2 (claim_law k)).
case/andP=> kt ut; rewrite big_cons -IH // (bigD1 k) //= [in RHS](bigD1 k) //= mulrA; congr (_ * _).
  have none (F : K * T -> R) : \prod_(e <- t | e.1 == k) F e = 1.
    rewrite big_seq_cond big1 // => e /andP[et /eqP ek]; case/negP: kt; rewrite -ek; exact: map_f.
  under eq_bigr do rewrite big_cons eqxx none mulr1.
  under [X in _ * X]eq_bigr do rewrite none mulr1.
  rewrite (proj2 (claim_law k)) mulr1 (bigD1 x) //= eqxx mulr1 big1 ?addr0 // => y /negbTE ->.
  by rewrite mulr0.
apply: eq_bigr => k' nk; apply: eq_bigr => y _; rewrite big_cons /=.
by rewrite eq_sym (negbTE nk).
Qed.

Section Run.
Variable next : seq (K * T) -> option K.
Hypothesis fresh : forall t k, next t = Some k -> k \notin keys t.
Fixpoint run n t Y :=
  if n is n'.+1 then if next t is Some k then run n' (rcons t (k, Y k)) Y else t else t.

(** drawing everything first or each token when it is needed: the same law *)
Theorem eager_lazy n t f : uniq (keys t) ->
  \sum_Y weight Y * (agree t Y)%:R * f (run n t Y) = \prod_(e <- t) claim e.1 e.2 * lazy claim next n t f.
Proof.
elim: n t => [|n IH] t ut /=; first by rewrite -mulr_suml agree_weight.
case nt: (next t) => [k|]; last by rewrite -mulr_suml agree_weight.
rewrite mulr_sumr.
have step x : \prod_(e <- t) claim e.1 e.2 * (claim k x * lazy claim next n (rcons t (k, x)) f)
   = \sum_Y weight Y * (agree (rcons t (k, x)) Y)%:R * f (run n (rcons t (k, x)) Y).
  rewrite IH; last by rewrite /keys map_rcons rcons_uniq fresh.
  by rewrite -cats1 big_cat big_seq1 /= mulrA.
rewrite (eq_bigr _ (fun x _ => step x)) exchange_big /=; apply: eq_bigr => Y _.
rewrite (bigD1 (Y k)) //= big1 ?addr0 => [|x]; last first.
  by rewrite eq_sym /agree all_rcons /= => /negbTE ->; rewrite mulr0 mul0r.
by rewrite /agree all_rcons eqxx.
Qed.
End Run.
End Draws.
