(** Names make no difference: not those of the slots, and not which of equal claims is meant.

    Places with bounds are right for sums over all draws, plain pairs of token lists for programs; a rule
    cannot tell. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers walk.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** the three verifiers by name *)
Inductive verifier := Matching | Recursive | RheoVerification.

Section Renaming.
Variables (T : finType) (R : realFieldType).
Implicit Types (p r l : T -> R) (x y : T).

Definition rule_of (C : Type) (claim : C -> T -> R) (sampled : C -> bool) v : (T -> R) -> seq (C * T) -> T -> R :=
  match v with
  | Matching => @matching T R C
  | Recursive => fun p => recursive claim p p
  | RheoVerification => rheo claim sampled
  end.

(** claims that agree, and slots under other names, make no difference to a rule *)
Lemma rule_of_map (C C' : Type) (g : C -> C') (claim : C -> T -> R) (claim' : C' -> T -> R) sampled sampled' v p
    (h : seq (C * T)) y :
  (forall c x, claim c x = claim' (g c) x) -> (forall c, sampled c = sampled' (g c)) ->
  rule_of claim sampled v p h y = rule_of claim' sampled' v p [seq (g e.1, e.2) | e <- h] y.
Proof.
move=> ec es; have er r r' c : r =1 r' -> residual p r (claim c) =1 residual p r' (claim' (g c)).
  move=> e z; rewrite /residual /gap e ec; under eq_bigr do rewrite e ec; by [].
case: v => //=.
  have gen r r' : r =1 r' -> recursive claim p r h y = recursive claim' p r' [seq (g e.1, e.2) | e <- h] y.
    elim: h r r' => [|[c x] h IH] r r' e //=; rewrite /attempt /accept e ec; congr (_ + _ * _).
    by apply: IH; apply: er.
  exact: gen.
rewrite /rheo filter_map (eq_filter (a2 := fun e : C * T => sampled e.1)) => [|e]; last by rewrite /= es.
by case: [seq _ <- h | _] => [|[c x] l] //=; rewrite /attempt /accept ec (er _ _ _ (frefl p)).
Qed.

Lemma emit_map (K K' : eqType) (g : K -> K') (ctx : K -> seq T) (ctx' : K' -> seq T)
    (rule : (T -> R) -> seq (K * T) -> T -> R) (rule' : (T -> R) -> seq (K' * T) -> T -> R)
    (p : seq T -> T -> R) rest t c w :
  (forall k, ctx k = ctx' (g k)) ->
  (forall p (h : seq (K * T)) y, rule p h y = rule' p [seq (g e.1, e.2) | e <- h] y) ->
  emit ctx rule p rest t c w = emit ctx' rule' p rest [seq (g e.1, e.2) | e <- t] c w.
Proof.
move=> ek er; elim: w c => [//|y w IH] c /=; rewrite er IH.
have -> : kids ctx' [seq (g e.1, e.2) | e <- t] c = [seq (g e.1, e.2) | e <- kids ctx t c].
  by rewrite /kids filter_map; congr map; apply: eq_filter => e; rewrite /= ek.
by rewrite /tokens -map_comp.
Qed.

Lemma honest_rule_of (C : Type) (claim : C -> T -> R) (sampled : C -> bool) v :
  (forall c, is_law (claim c)) -> honest claim (rule_of claim sampled v).
Proof. by move=> cl; case: v; [apply: honest_matching | apply: honest_recursive | apply: honest_rheo]. Qed.

Lemma rule_of_start (C : Type) (claim : C -> T -> R) (sampled : C -> bool) v p y :
  rule_of claim sampled v p [::] y = p y.
Proof. by case: v. Qed.
End Renaming.
