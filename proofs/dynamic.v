(** A sampled dynamic tree, blind to its draws, under any honest verifier, emits the target.

    Places are bounded sequences, so that there are finitely many and a draw Y is a finite function with a product law.
    [draws] answers a question about a place out of bounds with any possible token; the loop never asks. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers walk draws predictable ranking pool precedence rank_invariance
  kept.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Dynamic.
Variables (T : finType) (R : realFieldType).
Variables (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R) (tie : T -> nat).
Variables (branching frontier depth budget : nat).
Variable law : seq T -> seq T -> T -> R.             (* of the next slot's token, after the siblings *)
Hypothesis law_ok : forall s h, is_law (law s h).

(** a potential slot: its context and the tokens of its earlier siblings *)
Definition place := (depth.-bseq T * branching.-bseq T)%type.
Definition context_of (k : place) : seq T := k.1.
Definition claim (k : place) : T -> R := law k.1 k.2.
Definition place_at (s h : seq T) : place := (insub_bseq depth s, insub_bseq branching h).
Definition draws (Y : {ffun place -> T}) (s h : seq T) : T :=
  if (size s <= depth)%N && (size h <= branching)%N then Y (place_at s h)
  else odflt (Y (place_at [::] [::])) [pick x | law s h x != 0].
Definition nodes Y := build more wt tie branching frontier depth budget (draws Y).
Definition kept Y : seq place := [seq place_at (ctx n) (sibs n) | n <- nodes Y].

Hypothesis tie_blind : forall x y, tie x = tie y.
Hypothesis wt_blind : forall s h x y, wt s h x = wt s h y.
Hypothesis steep_possible : forall Z, (forall s h, law s h (Z s h) != 0) -> steep more wt branching Z.

Lemma claim_ok k : is_law (claim k). Proof. exact: law_ok. Qed.

Lemma draws_possible Y : possible claim Y -> forall s h, law s h (draws Y s h) != 0.
Proof.
rewrite /possible /weight => /prodf_neq0 ok s h; rewrite /draws; case: ifP => [/andP[ss sh]|_].
  have := ok (place_at s h) isT; rewrite /claim /place_at /=.
  rewrite /insub_bseq !insubdK //.
case: pickP => [//|none]; have [_ l1] := law_ok s h; have := oner_eq0 R; rewrite -l1 big1 ?eqxx // => x _.
by have /negbFE/eqP := none x.
Qed.

Lemma steepY Y : possible claim Y -> steep more wt branching (draws Y).
Proof. by move=> pY; apply/steep_possible/draws_possible. Qed.

Definition decode (e : place * T) : seq T * seq T * T := (val e.1.1, val e.1.2, e.2).

Lemma place_atK n Y : n \in nodes Y ->
  val (place_at (ctx n) (sibs n)).1 = ctx n /\ val (place_at (ctx n) (sibs n)).2 = sibs n.
Proof.
case/build_bounds => sc [ld ss lb]; rewrite /place_at /insub_bseq /= !insubdK //.
  by rewrite unfold_in ss ltnW.
by rewrite unfold_in sc ltnW.
Qed.

Lemma tree_entries Y : map decode (tree kept Y) = map (@entry T R) (nodes Y).
Proof.
rewrite /tree /kept -!map_comp; apply/eq_in_map => n nY; have [cc ss] := place_atK nY.
have [sc [ld sz lb]] := build_bounds nY.
by rewrite /decode /= cc ss /entry (build_tok nY) /draws sc sz (ltnW ld) (ltnW lb).
Qed.

Lemma kept_places Y : map (fun k : place => (val k.1, val k.2)) (kept Y) = map (@place_of T R) (nodes Y).
Proof. by rewrite /kept -map_comp; apply/eq_in_map => n nY; have [cc ss] := place_atK nY; rewrite /= cc ss. Qed.

Lemma kept_predictable : predictable claim kept.
Proof.
move=> Y Y' i pY pY' e.
have := @build_predictable _ _ more wt tie branching frontier depth budget tie_blind wt_blind _ _ i (steepY pY)
  (steepY pY').
have tk Z : take i (map decode (tree kept Z)) = map decode (take i (tree kept Z)) by rewrite map_take.
have dk (f : place -> seq T * seq T) Z : drop i (map f (kept Z)) = map f (drop i (kept Z)) by rewrite map_drop.
rewrite -!tree_entries -!kept_places !tk e !dk => /(_ erefl).
case: (drop i (kept Y)) => [|[a b] l]; case: (drop i (kept Y')) => [|[a' b'] l'] //= [aa bb].
by congr (Some (_, _)); apply: val_inj.
Qed.

Lemma kept_uniq Y : possible claim Y -> uniq (kept Y).
Proof.
move=> pY; have : uniq (map (@place_of T R) (nodes Y)) by apply: build_uniq => //; apply: steepY.
by rewrite -kept_places; apply: map_uniq.
Qed.

Lemma kept_size Y : (size (kept Y) <= budget)%N.
Proof. by rewrite size_map build_size. Qed.

Lemma kept_closed Y : possible claim Y -> closed context_of (tree kept Y).
Proof.
move=> pY e /mapP[k kk ->]; case/mapP: kk => n nY -> /=.
have [cc ss] := place_atK nY; rewrite /context_of cc.
have [|[n' nY' ->]] : ctx n = [::] \/ exists2 n', n' \in nodes Y & ctx n = path n'; [|by left|right].
  by apply: build_closed nY => //; apply: steepY.
exists (place_at (ctx n') (sibs n'), draws Y (ctx n') (sibs n')).
  apply/mapP; exists (place_at (ctx n') (sibs n')); first exact: map_f.
  by have [sc [ld sz lb]] := build_bounds nY'; rewrite /draws sc sz (ltnW ld) (ltnW lb).
by have [cc' _] := place_atK nY'; rewrite /= cc' /path (build_tok nY').
Qed.

Variables (rule : (T -> R) -> seq (place * T) -> T -> R) (p : seq T -> T -> R).
Hypothesis p_law : forall c, is_law (p c).
Hypothesis rule_honest : honest claim rule.
Hypothesis rule_start : forall c y, rule (p c) [::] y = p c y.

Theorem dynamic_lossless w :
  \sum_Y weight claim Y * emit context_of rule p (target p) (tree kept Y) [::] w = target p [::] w.
Proof.
exact: (predictable_lossless claim_ok kept_predictable kept_uniq kept_size p_law rule_honest rule_start kept_closed).
Qed.
End Dynamic.
