(** From one honest node to a whole tree: no tilt.

    A tree is the list of its nodes, each a slot (with the context it hangs under) and a token. [emit] is the chance
    that the walk down the tree, its block completed by plain target sampling, spells the word w. Nothing hangs below
    a token that is not kept and rule p [] = p, so the completion disappears ([emit_spell]):

        spell t c w  =  product over i of rule(kids of t at c w_1..w_i)(w_{i+1})

    One more node changes one factor of this product, and honestly so. Hence one more node, drawn from its claim, does
    not change the chance of any word ([spell_honest]): drafts below an accepted child are not tilted by its
    acceptance, and every path is emitted with its target probability, in one induction. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Walk.
Variables (T : finType) (R : realFieldType) (K : eqType).
Variables (ctx : K -> seq T) (claim : K -> T -> R) (rule : (T -> R) -> seq (K * T) -> T -> R).
Variable p : seq T -> T -> R.                       (* the target *)
Hypothesis claim_law : forall k, is_law (claim k).
Hypothesis p_law : forall c, is_law (p c).
Hypothesis rule_honest : honest claim rule.
Hypothesis rule_start : forall c y, rule (p c) [::] y = p c y.
Implicit Types (t : seq (K * T)) (c w : seq T) (y : T).

(** a tree is the list of its nodes; a node is its slot and its token *)
Definition kids t c := [seq e <- t | ctx e.1 == c].
Definition tokens t : seq T := [seq e.2 | e <- t].
Definition closed t := forall e, e \in t -> ctx e.1 = [::] \/ exists2 e', e' \in t & ctx e.1 = rcons (ctx e'.1) e'.2.

(** probability that the target continues [c] with the word [w] *)
Fixpoint target c w : R := if w is y :: w' then p c y * target (rcons c y) w' else 1.

(** probability that the walk down the tree from [c], its block completed by [rest], spells [w] *)
Fixpoint emit (rest : seq T -> seq T -> R) t c w : R :=
  if w is y :: w' then
    rule (p c) (kids t c) y *
    (if y \in tokens (kids t c) then emit rest t (rcons c y) w' else rest (rcons c y) w')
  else 1.

(** the same with every token of [w] taken from the node rule *)
Fixpoint spell t c w : R := if w is y :: w' then rule (p c) (kids t c) y * spell t (rcons c y) w' else 1.

Lemma closed_stop t c y : closed t -> y \notin tokens (kids t c) -> forall w, kids t (rcons c y ++ w) = [::].
Proof.
move=> ct yn w; apply/eqP; rewrite -size_eq0 size_filter -leqn0 leqNgt -has_count; apply/hasPn=> e et.
apply/eqP=> ce; move/negP: yn; apply.
elim/last_ind: w e et ce => [|w z IH] e et ce; have [e0|[e' e't e'c]] := ct e et.
- by move: e0; rewrite ce cats0; case: (c).
- move: e'c; rewrite ce cats0 => /rcons_inj[cc yy].
  by apply/mapP; exists e' => //; rewrite mem_filter -cc eqxx.
- by move: e0; rewrite ce -rcons_cat; case: (rcons c y ++ w).
- by move: e'c; rewrite ce -rcons_cat => /rcons_inj[cc _]; apply: (IH e').
Qed.

Lemma spell_out t c w : (forall v, kids t (c ++ v) = [::]) -> spell t c w = target c w.
Proof.
elim: w c => [//|y w IH] c out /=; move: (out [::]); rewrite cats0 => ->; rewrite rule_start IH // => v.
by rewrite cat_rcons.
Qed.

Lemma emit_spell t c w : closed t -> emit target t c w = spell t c w.
Proof.
move=> ct; elim: w c => [//|y w IH] c /=; case: ifPn => [_|yn]; first by rewrite IH.
by rewrite [in RHS]spell_out // => v; apply: closed_stop.
Qed.

(** one more node, which is honest where it is put, does not change the chance of any word *)
Lemma spell_step t k :
  (forall y, \sum_x claim k x * rule (p (ctx k)) (rcons (kids t (ctx k)) (k,
    x)) y = rule (p (ctx k)) (kids t (ctx k)) y) ->
  forall c w, \sum_x claim k x * spell (rcons t (k, x)) c w = spell t c w.
Proof.
move=> honest_here c w; elim: w c => [|y w IH] c /=.
  by under eq_bigr do rewrite mulr1; exact: (proj2 (claim_law k)).
have off (x : T) c' v : (size (ctx k) < size c')%N -> spell (rcons t (k, x)) c' v = spell t c' v.
  elim: v c' => [//|z v IHv] c' lt /=.
  rewrite /kids filter_rcons /=; have -> : ctx k == c' = false by apply: contraTF lt => /eqP ->; rewrite ltnn.
  by rewrite IHv // size_rcons ltnS ltnW.
have [kc|kc] := eqVneq (ctx k) c.
  under eq_bigr do rewrite off ?kc ?size_rcons // mulrA {1}/kids filter_rcons /= kc eqxx.
  by rewrite -mulr_suml -kc -honest_here.
under eq_bigr do rewrite /kids filter_rcons /= (negbTE kc) mulrCA.
by rewrite -mulr_sumr IH.
Qed.

(** NO TILT: under an honest rule that is so for every node *)
Theorem spell_honest t k c w : \sum_x claim k x * spell (rcons t (k, x)) c w = spell t c w.
Proof. by apply: spell_step => y; apply: rule_honest. Qed.
End Walk.

(** every tree, matched against a draw of the target: no hypothesis on where the tree came from *)
Theorem matching_lossless (T : finType) (R : realFieldType) (K : eqType) (ctx : K -> seq T)
    (p : seq T -> T -> R) t c w :
  emit ctx (@matching T R K) p (target p) t c w = target p c w.
Proof. by elim: w c => [//|y w IH] c /=; rewrite /matching; case: ifP => _; rewrite ?IH. Qed.
