(** Predictable builders are lossless.

    A builder is predictable when the i-th slot it keeps is a function of the tokens at the slots it kept before. Then
    its tree can be grown one honest draw at a time, and every draw leaves the chance of every word alone, so the tree
    as a whole does. Nothing is asked of where the predictability comes from. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers walk draws.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Grow.
Variables (T : finType) (R : realFieldType) (K : eqType).
Variables (ctx : K -> seq T) (claim : K -> T -> R) (rule : (T -> R) -> seq (K * T) -> T -> R) (p : seq T -> T -> R).
Hypothesis claim_law : forall k, is_law (claim k).
Hypothesis p_law : forall c, is_law (p c).
Hypothesis rule_honest : honest claim rule.

Theorem lazy_lossless next n t c w : lazy claim next n t (fun t => spell ctx rule p t c w) = spell ctx rule p t c w.
Proof.
elim: n t => [//|n IH] t /=; case: (next t) => [k|//].
by rewrite -(spell_honest ctx claim_law p_law rule_honest t k c w); apply: eq_bigr => x _; rewrite IH.
Qed.
End Grow.

Section Predictable.
Variables (T : finType) (R : realFieldType) (K : finType) (claim : K -> T -> R).
Hypothesis claim_law : forall k, is_law (claim k).
Implicit Types (Y : {ffun K -> T}) (t : seq (K * T)).
Local Notation weight := (weight claim).

Variables (kept : {ffun K -> T} -> seq K) (N : nat).
(** the tree of a draw, and the draws that can happen *)
Definition tree Y := [seq (k, Y k) | k <- kept Y].
Definition possible Y := weight Y != 0.
(** PREDICTABLE: the i-th kept slot is a function of the tokens of the slots kept before it *)
Definition predictable := forall Y Y' i, possible Y -> possible Y' ->
  take i (tree Y) = take i (tree Y') -> ohead (drop i (kept Y)) = ohead (drop i (kept Y')).

Hypothesis pred : predictable.
Hypothesis kept_uniq : forall Y, possible Y -> uniq (kept Y).
Hypothesis kept_size : forall Y, (size (kept Y) <= N)%N.

(** the next slot after the draws t: what any possible draw that begins with them keeps next *)
Definition next t :=
  if [pick Y | possible Y && (take (size t) (tree Y) == t)] is Some Y then ohead (drop (size t) (kept Y)) else None.

Lemma next_fresh t k : next t = Some k -> k \notin keys t.
Proof.
rewrite /next; case: pickP => [Y /andP[py /eqP tY]|//] kY.
have kk : keys t = take (size t) (kept Y).
  by rewrite -{1}tY /keys -map_take -map_comp map_take map_id.
move: (kept_uniq py); rewrite -(cat_take_drop (size t) (kept Y)) cat_uniq -kk => /and3P[_ /hasPn nk _].
by apply: nk; move: kY; case: drop => //= a l [->]; rewrite mem_head.
Qed.

Lemma run_tree Y n : possible Y -> run next n [::] Y = take n (tree Y).
Proof.
move=> py; have gen i : run next n (take i (tree Y)) Y = take (i + n) (tree Y); last by rewrite -[RHS](gen 0%N) take0.
elim: n i => [|n IH] i /=; first by rewrite addn0.
have -> : next (take i (tree Y)) = ohead (drop i (kept Y)).
  have [ile|igt] := leqP i (size (tree Y)).
    rewrite /next size_take_min (minn_idPl ile); case: pickP => [Y' /andP[py' /eqP tY']|]; first exact: pred.
    by move/(_ Y); rewrite py eqxx.
  rewrite /next take_oversize ?(ltnW igt) // drop_oversize /=; last by rewrite -(size_map (fun k => (k, Y k))) ltnW.
  case: pickP => [Y' /andP[py' /eqP tY']|//]; rewrite (pred py' py) ?take_size //.
  by rewrite drop_oversize // size_map.
case kd: (drop i (kept Y)) => [|k l] /=.
  have : (size (tree Y) <= i)%N by rewrite size_map -subn_eq0 -size_drop kd.
  by move=> le; rewrite !take_oversize // (leq_trans le) // leq_addr.
have -> : rcons (take i (tree Y)) (k, Y k) = take i.+1 (tree Y); last by rewrite IH addSnnS.
have isz : (i < size (kept Y))%N by rewrite -subn_gt0 -size_drop kd.
rewrite (take_nth (k, Y k)) ?size_map // (nth_map k) //; congr (rcons _ (_, Y _));
  by rewrite -[i]addn0 -nth_drop kd.
Qed.

Theorem predictable_lazy f : \sum_Y weight Y * f (tree Y) = lazy claim next N [::] f.
Proof.
have := @eager_lazy _ _ _ _ claim_law next next_fresh N [::] f isT; rewrite big_nil mul1r => <-.
apply: eq_bigr => Y _; rewrite /= mulr1; have [-> |nz] := eqVneq (weight Y) 0; first by rewrite !mul0r.
by rewrite run_tree // take_oversize // size_map.
Qed.

Variables (ctx : K -> seq T) (rule : (T -> R) -> seq (K * T) -> T -> R) (p : seq T -> T -> R).
Hypothesis p_law : forall c, is_law (p c).
Hypothesis rule_honest : honest claim rule.
Hypothesis rule_start : forall c y, rule (p c) [::] y = p c y.
Hypothesis kept_closed : forall Y, possible Y -> closed ctx (tree Y).

Theorem predictable_lossless w : \sum_Y weight Y * emit ctx rule p (target p) (tree Y) [::] w = target p [::] w.
Proof.
transitivity (\sum_Y weight Y * spell ctx rule p (tree Y) [::] w).
  apply: eq_bigr => Y _; have [-> |nz] := eqVneq (weight Y) 0; first by rewrite !mul0r.
  by rewrite (emit_spell rule_start) //; apply: kept_closed.
rewrite (predictable_lazy (fun t => spell ctx rule p t [::] w)) lazy_lossless //.
exact: spell_out.
Qed.

End Predictable.
