(** An evaluator: the law that the theorems speak of, computed.

    Sums over a finite type do not compute inside Coq, so every definition that uses one has a twin here that folds
    over an explicit list of the vocabulary; trees are built by [explore]. [evaluate_exact] says that the number it
    computes is the left side of the losslessness theorems, for RheoSampling and for its faulty relatives, under any
    of the three verifiers. Children are in rank order, as everywhere; see README.md for what that means to a faulty
    builder under [recursive]. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers walk draws predictable ranking pool kept dynamic rule
  rheo_sampling.
From rheocheck Require Import block renaming queries explore.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** what may be evaluated: whose weight the probe has *)
Inductive builder (R : Type) := Rheo | Naive | Low of R.
Arguments Rheo {R}.
Arguments Naive {R}.

Section Lists.
Variables (T : finType) (R : realFieldType) (vocab : seq T).
Implicit Types (p r l : T -> R) (x y : T) (s h : seq T).
Local Notation total := (@total T R vocab).

Section Verifiers.
Variables (C : Type) (claim : C -> T -> R) (sampled : C -> bool).

Definition list_gap r l : R := total (fun x => Num.max 0 (r x - l x)).
Definition list_residual p r l : T -> R :=
  let g := list_gap r l in fun y => if g == 0 then p y else Num.max 0 (r y - l y) / g.
Fixpoint list_recursive p r (h : seq (C * T)) : T -> R :=
  if h is (c, x) :: h' then attempt r (claim c) x (list_recursive p (list_residual p r (claim c)) h') else r.
Definition list_rheo p (h : seq (C * T)) : T -> R :=
  if [seq e <- h | sampled e.1] is (c, x) :: _ then attempt p (claim c) x (list_residual p p (claim c)) else p.
Definition list_rule v : (T -> R) -> seq (C * T) -> T -> R :=
  match v with
  | Matching => @matching T R C
  | Recursive => fun p => list_recursive p p
  | RheoVerification => list_rheo
  end.
End Verifiers.

Section Builders.
Variables (q : seq T -> T -> R) (lead : nat).

Definition list_rest s h := [seq x <- sort (fun x y => q s y <= q s x) vocab | (0 < q s x) && (x \notin h)].
Definition list_more s h := list_rest s h != [::].
Definition list_top s h : R := if list_rest s h is b :: _ then q s b else 0.
Definition list_tail s h : R := total (fun x => if x \notin h then q s x else 0).
Definition list_proxy s h : R := if h is a :: h' then Num.min (q s (last a h')) (list_tail s h) else list_top s h.
Definition list_weight (b : builder R) s h x : R :=
  if size h == lead then match b with Rheo => list_proxy s h | Naive => q s x | Low c => list_proxy s h * c end
  else list_top s h.
Definition list_law s h x : R :=
  if list_rest s h is b :: _ then
    if size h == lead then (if x \in h then 0 else q s x / list_tail s h) else point R b x
  else q s x.
Definition weight_of (b : builder R) : seq T -> seq T -> T -> R :=
  match b with Rheo => rheo_weight q lead | Naive => naive_weight q lead | Low c => low_weight q lead c end.
End Builders.

Variables (b : builder R) (v : verifier) (tie : T -> nat) (q p : seq T -> T -> R).
Variables (lead branching frontier depth budget : nat) (x0 : T) (fuel : nat).

Definition average (f : seq (site T * T) -> R) : R :=
  explore (list_more q) (list_weight q lead b) tie branching frontier depth budget (list_law q lead) vocab x0 fuel
    [::] f.

Definition chance_of (w : seq T) (t : seq (site T * T)) : R :=
  emit fst (list_rule (fun k => list_law q lead k.1 k.2) (fun k => size k.2 == lead) v) p (target p) t [::] w.

(** the chance that one cycle, completed by the target, spells w *)
Definition evaluate (w : seq T) : R := average (chance_of w).

(** the expected length of the block *)
Fixpoint list_longer (t : seq (site T * T)) d c : R :=
  if d is d'.+1 then
    total (fun y => list_rule (fun k => list_law q lead k.1 k.2) (fun k => size k.2 == lead) v (p c) (kids fst t c) y
                    * (y \in tokens (kids fst t c))%:R * list_longer t d' (rcons c y))
  else 1.
Definition evaluate_length : R :=
  average (fun t => foldr (fun d sum => list_longer t d [::] + sum) 0 (iota 0 depth.+1)).

(** that no branch was cut short *)
Definition complete : bool := average (fun _ => 1) == 1.
End Lists.

Section Exact.
Variables (T : finType) (R : realFieldType).
Implicit Types (p r l : T -> R) (x y : T) (s h : seq T).

Lemma list_residualE p r l r' : r =1 r' -> list_residual (enum T) p r l =1 residual p r' l.
Proof.
move=> e y; rewrite /list_residual /list_gap total_sum /residual /gap e.
by under eq_bigr do rewrite e.
Qed.

Lemma list_recursiveE (C : Type) (claim : C -> T -> R) p r r' (h : seq (C * T)) : r =1 r' ->
  list_recursive (enum T) claim p r h =1 recursive claim p r' h.
Proof.
elim: h r r' => [|[c x] h IH] r r' e y //=; rewrite /attempt /accept e; congr (_ + _ * _).
by apply: IH; apply: list_residualE.
Qed.

Lemma list_ruleE (C : Type) (claim : C -> T -> R) sampled v p (h : seq (C * T)) :
  list_rule (enum T) claim sampled v p h =1 rule_of claim sampled v p h.
Proof.
case: v => y //=; first exact: list_recursiveE.
rewrite /list_rheo /rheo; case: [seq _ <- h | _] => [|[c x] l] //.
by rewrite /attempt (list_residualE _ _ (frefl p)).
Qed.

Variables (q : seq T -> T -> R) (lead : nat).

Lemma list_moreE s h : list_more (enum T) q s h = more q s h.
Proof. by []. Qed.

Lemma list_tailE s h : list_tail (enum T) q s h = tail q s h.
Proof. by rewrite /list_tail total_sum -big_mkcond. Qed.

Lemma list_proxyE s h : list_proxy (enum T) q s h = proxy q s h.
Proof. by rewrite /list_proxy list_tailE. Qed.

Lemma list_weightE b s h x : list_weight (enum T) q lead b s h x = weight_of q lead b s h x.
Proof. by case: b => [||c]; rewrite /list_weight ?list_proxyE. Qed.

Lemma list_lawE s h x : list_law (enum T) q lead s h x = law q lead s h x.
Proof. by rewrite /list_law list_tailE. Qed.

Lemma total_congr (vocab : seq T) (f g : T -> R) : f =1 g -> total vocab f = total vocab g.
Proof. by move=> e; rewrite /total; elim: vocab => //= x l ->; rewrite e. Qed.

Lemma explore_congr more more' wt wt' law law' vocab tie branching frontier depth budget (x0 : T) n t f f' :
  (forall s h, more s h = more' s h) -> (forall s h x, wt s h x = wt' s h x) ->
  (forall s h x, law s h x = law' s h x :> R) -> f =1 f' ->
  explore more wt tie branching frontier depth budget law vocab x0 n t f
  = explore more' wt' tie branching frontier depth budget law' vocab x0 n t f'.
Proof.
move=> em ew el ef; elim: n t => [|n IH] t /=;
  rewrite /unseen (queries_congr _ em ew) /grown (build_congr _ em ew); case: ohead => // k.
by apply: total_congr => x; rewrite el IH.
Qed.

Hypothesis q_law : forall s, is_law (q s).
Variables (branching frontier depth budget : nat) (tie : T -> nat) (p : seq T -> T -> R) (b : builder R) (v : verifier).
Local Notation laws := (laws q lead branching depth).

(** the evaluator computes what the theorems speak of *)
Theorem evaluate_exact x0 n w : complete (enum T) b tie q lead branching frontier depth budget x0 n ->
  \sum_Y weight laws Y *
    emit (@context_of T branching depth) (rule_of laws (@sampled T lead branching depth) v) p (target p)
         (tree (kept (more q) (weight_of q lead b) tie frontier budget (law q lead)) Y) [::] w
  = evaluate (enum T) b v tie q p lead branching frontier depth budget x0 n w.
Proof.
rewrite /complete /evaluate /average => /eqP.
rewrite !(explore_congr _ _ _ _ _ _ _ _ _ list_moreE (list_weightE b) list_lawE (fun _ => erefl)) => done.
rewrite -(explore_exact (law_ok lead q_law) _ done); apply: eq_bigr => Y _; congr (_ * _).
rewrite /chance_of (emit_map (g := fun k : place T branching depth => (val k.1, val k.2)) (ctx' := fst)
  (rule' := list_rule (enum T) (fun k : site T => list_law (enum T) q lead k.1 k.2) (fun k => size k.2 == lead) v)) //.
move=> p' h y; rewrite list_ruleE.
apply: (rule_of_map (g := fun k : place T branching depth => (val k.1, val k.2))) => // k x.
by rewrite list_lawE.
Qed.

(** ... and the length of the block *)
Local Notation rule_at := (rule_of (fun k : site T => law q lead k.1 k.2) (fun k => size k.2 == lead) v).

Lemma list_longerE t d c : list_longer (enum T) v q p lead t d c = longer fst rule_at p t d c.
Proof.
elim: d c => //= d IH c; rewrite total_sum; apply: eq_bigr => y _; rewrite IH list_ruleE; congr (_ * _ * _).
rewrite (rule_of_map (g := id) (claim' := fun k => law q lead k.1 k.2) (sampled' := fun k => size k.2 == lead)) //.
  by rewrite (eq_map (f2 := id)) ?map_id // => -[].
by move=> k x; rewrite list_lawE.
Qed.

Theorem evaluate_length_exact x0 n : complete (enum T) b tie q lead branching frontier depth budget x0 n ->
  \sum_Y weight laws Y * (\sum_(d < depth.+1) longer fst rule_at p
    (map (@decode T branching depth) (tree (kept (more q) (weight_of q lead b) tie frontier budget (law q lead)) Y))
      d [::])
  = evaluate_length (enum T) b v tie q p lead branching frontier depth budget x0 n.
Proof.
rewrite /complete /evaluate_length /average => /eqP.
rewrite !(explore_congr _ _ _ _ _ _ _ _ _ list_moreE (list_weightE b) list_lawE (fun _ => erefl)) => done.
rewrite -(explore_exact (law_ok lead q_law) _ done); apply: eq_bigr => Y _; congr (_ * _).
rewrite -(big_mkord xpredT (fun d => longer fst rule_at p _ d [::])) /index_iota subn0 unlock /=.
by congr (_ + _); elim: (iota _ _) => //= d l ->; rewrite list_longerE.
Qed.
End Exact.
