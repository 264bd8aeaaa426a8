(** Programs that draw, and what they draw.

    The theorems so far speak of likelihoods: [emit] is defined by recursion on the word, and one may doubt that it is
    the law of anything. Here the verifiers and the walk are written as rheocheck.core writes them, as programs that
    flip coins and choose tokens, over the simplest of all probability monads: a finite list of weighted outcomes.
    Their law is the likelihood.

        program_walk :  P(the walk, its block completed by the target, emits w)  =  emit t c w *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers one_hot walk.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Monad.
Variable R : realFieldType.

Definition dist (A : Type) := seq (R * A).
Definition ret A (a : A) : dist A := [:: (1, a)].
Definition bind A B (d : dist A) (f : A -> dist B) : dist B :=
  flatten [seq [seq (e.1 * e'.1, e'.2) | e' <- f e.2] | e <- d].
Definition flip (a : R) : dist bool := [:: (a, true); (1 - a, false)].
Definition choose (T : finType) (l : T -> R) : dist T := [seq (l x, x) | x <- enum T].

(** the mean of g, and the probability of an outcome *)
Definition mean A (d : dist A) (g : A -> R) : R := \sum_(e <- d) e.1 * g e.2.
Definition prob (A : eqType) (d : dist A) (a : A) : R := mean d (fun b => (b == a)%:R).

Lemma mean_ret A (a : A) g : mean (ret a) g = g a.
Proof. by rewrite /mean big_seq1 mul1r. Qed.

Lemma mean_bind A B (d : dist A) (f : A -> dist B) g : mean (bind d f) g = mean d (fun a => mean (f a) g).
Proof.
rewrite /mean /bind big_flatten big_map; apply: eq_bigr => e _; rewrite big_map mulr_sumr.
by apply: eq_bigr => e' _; rewrite /= mulrA.
Qed.

Lemma mean_flip a g : mean (flip a) g = a * g true + (1 - a) * g false.
Proof. by rewrite /mean /flip !big_cons big_nil addr0. Qed.

Lemma mean_choose (T : finType) (l : T -> R) g : mean (choose l) g = \sum_x l x * g x.
Proof. by rewrite /mean /choose big_map big_enum. Qed.

Lemma eq_mean A (d : dist A) g g' : g =1 g' -> mean d g = mean d g'.
Proof. by move=> e; apply: eq_bigr => x _; rewrite e. Qed.

Lemma mean0 A (d : dist A) : mean d (fun _ => 0) = 0.
Proof. by rewrite /mean big1 // => e _; rewrite mulr0. Qed.
End Monad.

Section Verifiers.
Variables (T : finType) (R : realFieldType) (C : Type) (claim : C -> T -> R) (sampled : C -> bool).
Hypothesis claim_law : forall c, is_law (claim c).
Implicit Types (p r : T -> R) (x y : T) (h : seq (C * T)).
Local Notation dist := (dist R).

(** rheocheck.core.verifiers, each returning (token, descend) *)
Definition matching_program p h : dist (T * bool) :=
  bind (choose p) (fun y => ret R (y, y \in [seq e.2 | e <- h])).

Fixpoint recursive_program p r h : dist (T * bool) :=
  if h is (c, x) :: h' then
    bind (flip (accept r (claim c) x)) (fun yes =>
      if yes then ret R (x, true) else recursive_program p (residual p r (claim c)) h')
  else bind (choose r) (fun y => ret R (y, false)).

Definition rheo_program p h : dist (T * bool) :=
  bind (if [seq e <- h | sampled e.1] is (c, x) :: _ then
          bind (flip (accept p (claim c) x)) (fun yes =>
            if yes then ret R x else choose (residual p p (claim c)))
        else choose p)
    (fun y => ret R (y, y \in [seq e.2 | e <- h])).

(** a program carries out a rule: it emits by the rule's law, and descends when it emitted a kept child *)
Definition carries_out (program : (T -> R) -> seq (C * T) -> dist (T * bool)) rule h :=
  forall p g, is_law p -> mean (program p h) g = \sum_y rule p h y * g (y, y \in [seq e.2 | e <- h]).

Lemma matching_carried_out h : carries_out matching_program (@matching T R C) h.
Proof. by move=> p g _; rewrite mean_bind mean_choose; apply: eq_bigr => y _; rewrite mean_ret. Qed.

Lemma mean_attempt r l x k (g : T -> R) :
  \sum_y attempt r l x k y * g y = accept r l x * g x + (1 - accept r l x) * \sum_y k y * g y.
Proof.
under eq_bigr do rewrite /attempt mulrDl -!mulrA.
rewrite big_split /= -!mulr_sumr; congr (_ * _ + _).
by under eq_bigr do rewrite mulrC eq_sym; rewrite (bigD1 x) //= eqxx mulr1 big1 ?addr0 // => y /negbTE;
   rewrite eq_sym => ->; rewrite mulr0.
Qed.

Lemma rheo_carried_out h : carries_out rheo_program (rheo claim sampled) h.
Proof.
move=> p g _; rewrite mean_bind /rheo; case: [seq e <- h | _] => [|[c x] l].
  by rewrite mean_choose; apply: eq_bigr => y _; rewrite mean_ret.
rewrite mean_bind mean_flip mean_ret mean_choose mean_ret mean_attempt; congr (_ + _ * _).
by apply: eq_bigr => y _; rewrite mean_ret.
Qed.

(** In [recursive] a draw from the last residual ends the block. [spare] is the part of the law emitted so; for a
    token that was tried it is zero. *)
Lemma mean_recursive p r h g : mean (recursive_program p r h) g
  = \sum_y (spare claim p r h y * g (y, false) + (recursive claim p r h y - spare claim p r h y) * g (y, true)).
Proof.
elim: h r => [|[c x] h IH] r /=.
  by rewrite mean_bind mean_choose; apply: eq_bigr => y _; rewrite mean_ret subrr mul0r addr0.
rewrite mean_bind mean_flip mean_ret IH; set a := accept _ _ _; set k := residual _ _ _.
have -> : a * g (x, true) = \sum_y a * (y == x)%:R * g (y, true).
  rewrite (bigD1 x) //= eqxx mulr1 big1 ?addr0 // => y /negbTE ->; by rewrite mulr0 mul0r.
rewrite mulr_sumr -big_split /=; apply: eq_bigr => y _; rewrite /attempt -/a.
by rewrite mulrDr !mulrA addrCA -mulrDl mulrBr addrA.
Qed.

Lemma spare_untried p r h y : y \notin [seq e.2 | e <- h] -> recursive claim p r h y = spare claim p r h y.
Proof.
elim: h r => [//|[c x] h IH] r; rewrite inE negb_or => /andP[/negbTE yx yh] /=.
by rewrite /attempt yx mulr0 add0r IH.
Qed.

Lemma recursive_carried_out h : (forall e, e \in [seq claim e.1 e.2 | e <- h] -> e != 0) ->
  carries_out (fun p => recursive_program p p) (fun p => recursive claim p p) h.
Proof.
move=> ok p g pl; rewrite mean_recursive; apply: eq_bigr => y _; case: (boolP (y \in _)) => yh.
  by rewrite (spare_tokens claim_law pl pl ok yh) mul0r add0r subr0.
by rewrite spare_untried // subrr mul0r addr0.
Qed.
End Verifiers.

Section Walk.
Variables (T : finType) (R : realFieldType) (K : eqType) (ctx : K -> seq T).
Variables (rule : (T -> R) -> seq (K * T) -> T -> R) (program : (T -> R) -> seq (K * T) -> dist R (T * bool)).
Variable p : seq T -> T -> R.
Hypothesis p_law : forall c, is_law (p c).
Implicit Types (t : seq (K * T)) (c w : seq T) (n : nat).

(** n tokens drawn from the target *)
Fixpoint plain n c : dist R (seq T) :=
  if n is n'.+1 then bind (choose (p c)) (fun y => bind (plain n' (rcons c y)) (fun w => ret R (y :: w)))
  else ret R [::].

(** the walk down the tree t from c, until n tokens are there; when the block ends the target goes on *)
Fixpoint walk t n c : dist R (seq T) :=
  if n is n'.+1 then
    bind (program (p c) (kids ctx t c)) (fun step : T * bool =>
      let: (y, descend) := step in
      bind (if descend then walk t n' (rcons c y) else plain n' (rcons c y)) (fun w => ret R (y :: w)))
  else ret R [::].

Lemma prob_cons (d : dist R (seq T)) x y w : prob (bind d (fun w => ret R (x :: w))) (y :: w) = (x == y)%:R * prob d w.
Proof.
rewrite /prob mean_bind; under eq_mean do rewrite mean_ret eqseq_cons.
have [_|_] := eqVneq x y; first by rewrite mul1r.
by under eq_mean do rewrite /=; rewrite mean0 mul0r.
Qed.

Lemma prob_bind_cons (d : T -> dist R (seq T)) (l : T -> R) y w :
  \sum_x l x * prob (bind (d x) (fun w => ret R (x :: w))) (y :: w) = l y * prob (d y) w.
Proof.
rewrite (bigD1 y) //= prob_cons eqxx mul1r big1 ?addr0 // => x /negbTE xy.
by rewrite prob_cons xy mul0r mulr0.
Qed.

Lemma prob_plain w c : prob (plain (size w) c) w = target p c w.
Proof.
elim: w c => [|y w IH] c /=; first by rewrite /prob mean_ret.
rewrite /prob mean_bind mean_choose; rewrite -IH.
exact: (prob_bind_cons (fun x => plain (size w) (rcons c x))).
Qed.

Theorem program_walk t c w : (forall c, carries_out program rule (kids ctx t c)) ->
  prob (walk t (size w) c) w = emit ctx rule p (target p) t c w.
Proof.
move=> co; elim: w c => [|y w IH] c /=; first by rewrite /prob mean_ret.
rewrite /prob mean_bind (co c _ _ (p_law c)).
rewrite (prob_bind_cons (fun x =>
  if x \in tokens (kids ctx t c) then walk t (size w) (rcons c x) else plain (size w) (rcons c x))).
by congr (_ * _); case: ifP => _; rewrite ?IH ?prob_plain.
Qed.
End Walk.
