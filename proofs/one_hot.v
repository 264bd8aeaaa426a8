(** One-hot claims, and tokens that were tried.

    One-hot collapse: when no child was drawn, [recursive] emits exactly what [matching] emits; the claims carry no
    information that could help. And a token that was tried and rejected has no mass left in the residual, so "descend
    if the emitted token is a kept child" and "descend if a child was accepted" describe the same walk. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section OneHot.
Variables (T : finType) (R : realFieldType) (C : Type) (claim : C -> T -> R).
Hypothesis claim_law : forall c, is_law (claim c).

(** one-hot claims: recursive rejection is matching *)
Lemma recursive_point p r (h : seq (C * T)) y : is_law p -> is_law r ->
  (forall i d, (i < size h)%N -> claim (nth d h i).1 = point R (nth d h i).2) ->
  recursive claim p r h y = r y.
Proof.
move=> pl; elim: h r => [//|[c x] h IH] r rl ok /=.
have cx : claim c = point R x := ok 0%N (c, x) isT.
have rl' : is_law (residual p r (claim c)) by apply: residual_law.
have e := IH _ rl' (fun i d lt => ok i.+1 d lt).
rewrite /attempt e cx; exact: attempt_point.
Qed.
(** a token tried and rejected is never the residual draw: descending on "in the tree" is the same walk *)
Fixpoint spare (p r : T -> R) (h : seq (C * T)) (y : T) : R :=
  if h is (c, x) :: h' then (1 - accept r (claim c) x) * spare p (residual p r (claim c)) h' y else r y.
Lemma accept1 (r l : T -> R) x : is_law r -> is_law l -> gap r l = 0 -> l x != 0 -> accept r l x = 1.
Proof.
move=> rl [l0 l1] g lx; have e : \sum_z l z * (1 - accept r l z) = 0 by rewrite overlap //; split.
have nn z : true -> 0 <= l z * (1 - accept r l z) by move=> _; rewrite mulr_ge0 // subr_ge0 accept_le1.
have /eqP := psumr_eq0P nn e (i := x) isT; rewrite mulf_eq0 (negbTE lx) subr_eq0 /= => /eqP.
by [].
Qed.
Lemma spare0 p r h y : is_law p -> is_law r -> (forall e, e \in [seq claim e.1 e.2 | e <- h] -> e != 0) -> r y = 0 ->
  spare p r h y = 0.
Proof.
move=> pl; elim: h r => [//|[c x] h IH] r rl ok ry /=.
have lx : claim c x != 0 by apply: ok; rewrite mem_head.
have [g|g] := eqVneq (gap r (claim c)) 0; first by rewrite accept1 // subrr mul0r.
rewrite IH ?mulr0 //; first exact: residual_law.
  by move=> e eh; apply: ok; rewrite inE eh orbT.
rewrite /residual (negbTE g) ry sub0r max_l ?mul0r // oppr_le0; by have [] := claim_law c.
Qed.

Lemma spare_tokens p r h y : is_law p -> is_law r -> (forall e, e \in [seq claim e.1 e.2 | e <- h] -> e != 0) ->
  y \in [seq e.2 | e <- h] -> spare p r h y = 0.
Proof.
move=> pl; elim: h r => [//|[c x] h IH] r rl ok /=.
have lx : claim c x != 0 by apply: ok; rewrite mem_head.
have lx0 : 0 < claim c x by rewrite lt_def lx; have [->] := claim_law c.
have rl' := residual_law r (claim c) pl.
have ok' e : e \in [seq claim e.1 e.2 | e <- h] -> e != 0 by move=> eh; apply: ok; rewrite inE eh orbT.
rewrite inE => /orP[/eqP ->|yh]; last by rewrite (IH _ rl' ok' yh) mulr0.
have [g|g] := eqVneq (gap r (claim c)) 0; first by rewrite accept1 // subrr mul0r.
have [le|lt] := leP (claim c x) (r x).
  by rewrite /accept min_l ?subrr ?mul0r // ler_pdivl_mulr // mul1r.
by rewrite (@spare0 p) ?mulr0 // /residual (negbTE g) max_l ?mul0r // subr_le0 ltW.
Qed.

End OneHot.
