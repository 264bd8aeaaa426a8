(** The three verifiers of rheocheck.core.verifiers, and why honest claims make each of them exact.

    A verifier is a node rule: given the target law p at a node and the children kept there, each with its claim, in
    draw order, it says the law of the next token. Call a rule HONEST when one more child, drawn from its claim, leaves
    that law unchanged on average:

        sum_x claim(x) * rule p (h, x) y  =  rule p h y

    This is the martingale property, and it is all that the rest of the development asks of a verifier. Since
    rule p [] = p for all three, it gives node exactness for any list of claims, even when the next claim depends on
    everything drawn so far. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Verifiers.
Variables (T : finType) (R : realFieldType) (C : Type) (claim : C -> T -> R) (sampled : C -> bool).
Hypothesis claim_law : forall c, is_law (claim c).
Implicit Types (p r : T -> R) (x y : T) (h : seq (C * T)).

(** [matching] ignores the children; [recursive] tries them in order, each against what the earlier rejections left;
    [rheo] tries the one child that was drawn, if it was kept, and ignores the others *)

Fixpoint recursive p r h : T -> R :=
  if h is (c, x) :: h' then attempt r (claim c) x (recursive p (residual p r (claim c)) h') else r.
Definition matching p h : T -> R := p.
Definition rheo p h : T -> R :=
  if [seq e <- h | sampled e.1] is (c, x) :: _ then attempt p (claim c) x (residual p p (claim c)) else p.

(** one more child, drawn from its claim, changes nothing on average *)
Definition honest (rule : (T -> R) -> seq (C * T) -> T -> R) := forall p h c y, is_law p ->
  \sum_x claim c x * rule p (rcons h (c, x)) y = rule p h y.

Lemma recursive_honest p r h c y : is_law p -> is_law r ->
  \sum_x claim c x * recursive p r (rcons h (c, x)) y = recursive p r h y.
Proof.
move=> pl; elim: h r => [|[d z] h IH] r rl /=; first exact: attempt_exact.
rewrite {2}/attempt -(IH _ (residual_law r (claim d) pl)) mulr_sumr.
rewrite -[accept r (claim d) z * _]mul1r -{1}(proj2 (claim_law c)) mulr_suml -big_split /=.
by apply: eq_bigr => x _; rewrite /attempt mulrDr; congr (_ + _); rewrite mulrCA.
Qed.

Theorem honest_recursive : honest (fun p => recursive p p).
Proof. by move=> p h c y pl; apply: recursive_honest. Qed.

Theorem honest_matching : honest matching.
Proof. by move=> p h c y _; rewrite /matching -mulr_suml (proj2 (claim_law c)) mul1r. Qed.

Theorem honest_rheo : honest rheo.
Proof.
move=> p h c y pl; under eq_bigr do rewrite /rheo filter_rcons /=.
rewrite /rheo; case sc : (sampled c); last by rewrite -mulr_suml (proj2 (claim_law c)) mul1r.
case: [seq e <- h | sampled e.1] => [|[d z] h'] /=; first exact: attempt_exact.
by rewrite -mulr_suml (proj2 (claim_law c)) mul1r.
Qed.

(** A builder at one node, seen as a dialogue: it stops, or asks for one more child with a claim of its choice and goes
    on with the token drawn. [expect] averages over the draws. *)
Inductive ask := Done | Ask of C & (T -> ask).
Fixpoint expect (a : ask) (f : seq (C * T) -> R) h : R :=
  if a is Ask c k then \sum_x claim c x * expect (k x) f (rcons h (c, x)) else f h.

Theorem node_exact rule p a y : honest rule -> is_law p -> expect a (fun h => rule p h y) [::] = rule p [::] y.
Proof.
move=> ok pl; elim: a [::] => [//|c k IH] h /=.
by rewrite -(ok p h c y pl); apply: eq_bigr => x _; rewrite IH.
Qed.

Corollary matching_exact p a y : is_law p -> expect a (fun h => matching p h y) [::] = p y.
Proof. exact: (node_exact a y honest_matching). Qed.
Corollary recursive_exact p a y : is_law p -> expect a (fun h => recursive p p h y) [::] = p y.
Proof. exact: (node_exact a y honest_recursive). Qed.
Corollary rheo_exact p a y : is_law p -> expect a (fun h => rheo p h y) [::] = p y.
Proof. exact: (node_exact a y honest_rheo). Qed.

(** every rule is a law, so it can be sampled *)
Lemma recursive_law p r h : is_law p -> is_law r -> is_law (recursive p r h).
Proof.
move=> pl; elim: h r => [//|[c x] h IH] r rl /=.
by apply: attempt_law => //; apply/IH/residual_law.
Qed.
Lemma rheo_law p h : is_law p -> is_law (rheo p h).
Proof.
move=> pl; rewrite /rheo; case: filter => [//|[c x] _].
by apply: attempt_law => //; apply: residual_law.
Qed.

End Verifiers.
