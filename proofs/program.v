(** RheoSampling as a program, lossless.

    [grow] runs the ranking loop and chooses a token when the loop first looks at its slot; [cycle_program] then walks
    the tree with one of the verifier programs, and lets the target complete the block to n tokens. It is rheocheck's
    decoder, on the list of all its weighted outcomes. Its law is the target's. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers walk draws predictable ranking dynamic rule steep rheo_sampling.
From rheocheck Require Import kept renaming queries explore sampling block.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Program.
Variables (T : finType) (R : realFieldType) (q p : seq T -> T -> R) (lead branching frontier depth budget : nat).
Variables (v : verifier) (x0 : T).
Hypothesis q_law : forall s, is_law (q s).
Hypothesis p_law : forall c, is_law (p c).

Local Notation more := (more q).
Local Notation wt := (rheo_weight q lead).
Local Notation tie := (fun _ : T => 0%N).
Local Notation unseen := (unseen more wt tie branching frontier depth x0).
Local Notation grown := (grown more wt tie branching frontier depth budget x0).

(** what was drawn when the ranking loop has all it asks for; a program that ran out of steps has no outcome *)
Fixpoint grow n (t : seq (site T * T)) : dist R (seq (site T * T)) :=
  if unseen t is Some k then
    if n is n'.+1 then bind (choose (law q lead k.1 k.2)) (fun x => grow n' (rcons t (k, x))) else [::]
  else ret R t.

Definition claim_at (k : site T) : T -> R := law q lead k.1 k.2.
Definition drawn_at (k : site T) : bool := size k.2 == lead.
Definition verify : (T -> R) -> seq (site T * T) -> dist R (T * bool) :=
  match v with
  | Matching => @matching_program T R (site T)
  | Recursive => fun r => recursive_program claim_at r r
  | RheoVerification => rheo_program claim_at drawn_at
  end.

(** one cycle, completed by the target to n tokens *)
Definition cycle_program n : dist R (seq T) :=
  bind (grow #|{: place T branching depth}| [::]) (fun t => walk fst verify p (grown t) n [::]).

Lemma mean_grow n t f : mean (grow n t) (fun t => f (grown t))
  = explore more wt tie branching frontier depth budget (law q lead) (enum T) x0 n t f.
Proof.
elim: n t => [|n IH] t /=; case: (unseen t) => [k|]; rewrite ?mean_ret //; first by rewrite /mean big_nil.
rewrite mean_bind mean_choose total_sum; apply: eq_bigr => x _; rewrite IH.
by case: eqP => // ->; rewrite mul0r.
Qed.

Lemma verify_carries_out h : (forall e, e \in h -> claim_at e.1 e.2 != 0) ->
  carries_out verify (rule_of claim_at drawn_at v) h.
Proof.
have cl k : is_law (claim_at k) by apply: law_ok.
move=> ok; rewrite /verify; case: v; [exact: matching_carried_out | | exact: rheo_carried_out].
by apply: recursive_carried_out => // e /mapP[e' eh ->]; apply: ok.
Qed.

Theorem program_lossless w : prob (cycle_program (size w)) w = target p [::] w.
Proof.
rewrite /prob /cycle_program mean_bind (mean_grow _ _ (fun g => prob (walk fst verify p g (size w) [::]) w)).
rewrite -(@explore_whole T R more wt tie branching frontier depth budget (law q lead) x0 (law_ok lead q_law)).
rewrite -(@rheo_lossless T R q lead branching q_law frontier depth budget p p_law
  (rule_of (laws q lead branching depth) (@sampled T lead branching depth) v) w); first last.
- by move=> c y; apply: rule_of_start.
- by apply: honest_rule_of => k; apply: law_ok.
apply: eq_bigr => Y _; have [->|pY] := eqVneq (weight (laws q lead branching depth) Y) 0; first by rewrite !mul0r.
congr (_ * _); rewrite (program_walk (rule := rule_of claim_at drawn_at v)) // => [|c].
  rewrite [RHS](emit_map (g := fun k : place T branching depth => (val k.1, val k.2)) (ctx' := fst)
    (rule' := rule_of claim_at drawn_at v)) // => p' h y.
  exact: (rule_of_map (g := fun k : place T branching depth => (val k.1, val k.2))).
apply: verify_carries_out => e; rewrite mem_filter => /andP[_ /mapP[[k x] /mapP[k' _ [-> ->]] ->]] /=.
by move: pY => /prodf_neq0/(_ k' isT).
Qed.

(** ** The block that the cycle emits by itself, and its expected length *)
Definition block_program : dist R (seq T) :=
  bind (grow #|{: place T branching depth}| [::]) (fun t => block fst verify p (grown t) depth [::]).
Local Notation trees := (trees q lead branching frontier depth budget).
Local Notation decode := (@dynamic.decode T branching depth).
Local Notation rule := (rule_of claim_at drawn_at v).

Lemma possible_claims Y e : weight (laws q lead branching depth) Y != 0 -> e \in map decode (trees Y) ->
  claim_at e.1 e.2 != 0.
Proof. by move=> pY /mapP[[k x] /mapP[k' _ [-> ->]] ->] /=; have /prodf_neq0/(_ k' isT) := pY. Qed.

Lemma mean_trees f g : (forall Y, weight (laws q lead branching depth) Y != 0 -> f (map decode (trees Y)) = g Y) ->
  mean (grow #|{: place T branching depth}| [::]) (fun t => f (grown t))
  = \sum_Y weight (laws q lead branching depth) Y * g Y.
Proof.
move=> fg; rewrite mean_grow -(@explore_whole T R more wt tie branching frontier depth budget (law q lead) x0
  (law_ok lead q_law)).
apply: eq_bigr => Y _; have [->|pY] := eqVneq (weight (laws q lead branching depth) Y) 0; first by rewrite !mul0r.
by congr (_ * _); rewrite -fg.
Qed.

Lemma carried_out Y : weight (laws q lead branching depth) Y != 0 ->
  forall c, carries_out verify rule (kids fst (map decode (trees Y)) c).
Proof. by move=> pY c; apply: verify_carries_out => e; rewrite mem_filter => /andP[_ /(possible_claims pY)]. Qed.

Lemma rule_law h c : is_law (rule (p c) h).
Proof.
have cl k : is_law (claim_at k) by apply: law_ok.
by case: v => /=; [exact: p_law | apply: recursive_law | apply: rheo_law].
Qed.

Theorem block_program_law w : (size w <= depth.+1)%N -> prob block_program w
  = \sum_Y weight (laws q lead branching depth) Y * block_law fst rule p (map decode (trees Y)) [::] w.
Proof.
move=> sw; rewrite /prob mean_bind; apply: (mean_trees (f := fun t => prob (block fst verify p t depth [::]) w)) =>
  Y pY.
by apply: program_block => // c; apply: carried_out.
Qed.

Theorem block_program_length : mean block_program (fun w => (size w)%:R)
  = \sum_Y weight (laws q lead branching depth) Y * (\sum_(d < depth.+1) longer fst rule p (map decode (trees Y)) d
    [::]).
Proof.
rewrite mean_bind.
apply: (mean_trees (f := fun t => mean (block fst verify p t depth [::]) (fun w => (size w)%:R))) => Y pY.
apply: expected_length => // [c|c|c' /= sc]; [exact: carried_out | exact: rule_law |].
apply/eqP; rewrite -size_eq0 size_filter -leqn0 leqNgt -has_count;
  apply/hasPn => e /mapP[[k x] /mapP[k' kY [-> _]] ->] /=.
case/mapP: kY => n nY ->; have [cc _] := place_atK nY; rewrite /= cc.
apply/eqP => ec; have [sz [lt _ _]] := build_bounds nY.
by move: lt; rewrite -sz ec sc add0n ltnn.
Qed.
End Program.
