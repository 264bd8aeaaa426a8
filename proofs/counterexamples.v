(** What goes wrong without the hypotheses: three builders, three small pairs, computed.

    Each keeps the definitions of RheoSampling, the ranking loop and the verifiers, and changes one thing. In each,
    one node is kept of a probe and another slot, so the probe's survival depends on what it drew, while its claim
    still says q~. The numbers are the law of the first emitted token; the same pairs are computed by rheocheck.exact
    in the tests. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers walk draws predictable ranking dynamic rule rheo_sampling.
From rheocheck Require Import block renaming queries explore evaluator pairs.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** the law of the text of one cycle: builder and ties, verifier, pair, sizes *)
Definition emitted (T : finType) (R : realFieldType) (b : builder R) (tie : T -> nat) (v : verifier)
    (q p : seq T -> T -> R)
    (lead branching frontier depth budget : nat) (w : seq T) : R :=
  \sum_Y weight (laws q lead branching depth) Y *
    emit (@context_of T branching depth) (rule_of (laws q lead branching depth) (@sampled T lead branching depth) v) p
         (target p) (tree (kept (more q) (weight_of q lead b) tie frontier budget (law q lead)) Y) [::] w.

Lemma emitted_evaluate (T : finType) (R : realFieldType) (vocab : seq T) (b : builder R) tie v q p
    lead branching frontier depth budget x0 n w :
  vocab = enum T -> (forall s, is_law (q s)) -> complete vocab b tie q lead branching frontier depth budget x0 n ->
  emitted b tie v q p lead branching frontier depth budget w
  = evaluate vocab b v tie q p lead branching frontier depth budget x0 n w.
Proof. by move=> -> ql; apply: evaluate_exact. Qed.

(** a table of words and chances, checked by one computation *)
Lemma emitted_table (T : finType) (R : realFieldType) (vocab : seq T) (b : builder R) tie v q p
    lead branching frontier depth budget x0 n (table : seq (seq T * R)) :
  vocab = enum T -> (forall s, is_law (q s)) ->
  complete vocab b tie q lead branching frontier depth budget x0 n
  && all (fun e => evaluate vocab b v tie q p lead branching frontier depth budget x0 n e.1 == e.2) table ->
  forall e, e \in table -> emitted b tie v q p lead branching frontier depth budget e.1 = e.2.
Proof.
move=> ve ql /andP[done /allP ok] e et.
by rewrite (emitted_evaluate _ _ _ ve ql done); apply/eqP; apply: ok.
Qed.

(** the expected length of its block *)
Definition mean_length (T : finType) (R : realFieldType) (b : builder R) (tie : T -> nat) (v : verifier)
    (q p : seq T -> T -> R) (lead branching frontier depth budget : nat) : R :=
  \sum_Y weight (laws q lead branching depth) Y *
    (\sum_(d < depth.+1)
       longer fst (rule_of (fun k : site T => law q lead k.1 k.2) (fun k => size k.2 == lead) v) p
         (map (@decode T branching depth) (tree (kept (more q) (weight_of q lead b) tie frontier budget (law q lead))
           Y))
         d [::]).

Lemma mean_length_evaluate (T : finType) (R : realFieldType) (vocab : seq T) (b : builder R) tie v q p
    lead branching frontier depth budget x0 n (x : R) :
  vocab = enum T -> (forall s, is_law (q s)) ->
  complete vocab b tie q lead branching frontier depth budget x0 n
  && (evaluate_length vocab b v tie q p lead branching frontier depth budget x0 n == x) ->
  mean_length b tie v q p lead branching frontier depth budget = x.
Proof. by move=> -> ql /andP[done /eqP <-]; apply: evaluate_length_exact. Qed.

Definition no_tie (T : Type) (x : T) : nat := 0.
Definition by_token n (x : 'I_n) : nat := val x.
Definition zero2 : 'I_2 := @Ordinal 2 0 isT.
Definition zero3 : 'I_3 := @Ordinal 3 0 isT.

(** ** Naive ranking: the probe is ranked by its own probability

    Two tokens, no lead, a probe and a fill, one of them kept. The likelier token outranks its fill, the other does
    not: the kept probe is always token 0, and its claim says (2/3, 1/3). Token 0 comes out with 2/3 * 1/2 + 1/3 * 1/3
    = 4/9. *)
Definition naive_q : seq 'I_2 -> 'I_2 -> rat := model [:: 2%:Q / 3%:Q; 1%:Q / 3%:Q] [::].
Definition naive_p : seq 'I_2 -> 'I_2 -> rat := model [:: 1%:Q / 3%:Q; 2%:Q / 3%:Q] [::].

Lemma naive_q_law s : is_law (naive_q s).
Proof. by apply: (model_law _ vocab2E); vm_compute. Qed.

Theorem naive_biased :
  emitted Naive (@no_tie 'I_2) RheoVerification naive_q naive_p 0 2 2 1 1 [:: zero2] = 4%:Q / 9%:Q
  /\ target naive_p [::] [:: zero2] = 1%:Q / 3%:Q.
Proof.
split; last by apply/eqP; vm_compute.
rewrite (emitted_evaluate (x0 := zero2) (n := 9) _ _ _ vocab2E naive_q_law); last by vm_compute.
by apply/eqP; vm_compute.
Qed.

Theorem naive_biased_recursive :
  emitted Naive (@no_tie 'I_2) Recursive naive_q naive_p 0 2 2 1 1 [:: zero2] = 4%:Q / 9%:Q.
Proof.
rewrite (emitted_evaluate (x0 := zero2) (n := 9) _ _ _ vocab2E naive_q_law); last by vm_compute.
by apply/eqP; vm_compute.
Qed.

(** ** Ties by token: the probe ties the last lead by construction

    One lead, q = (1/4, 1/2, 1/4): the lead is token 1 at 1/2, the probe stands at min{1/2, 1/2} whatever it drew. One
    is kept. If the smaller token wins the tie, the probe is kept when it drew 0 and not when it drew 2. *)
Definition tie_q : seq 'I_3 -> 'I_3 -> rat := model [:: 1%:Q / 4%:Q; 1%:Q / 2%:Q; 1%:Q / 4%:Q] [::].
Definition tie_p : seq 'I_3 -> 'I_3 -> rat := model [:: 1%:Q / 2%:Q; 1%:Q / 4%:Q; 1%:Q / 4%:Q] [::].

Lemma tie_q_law s : is_law (tie_q s).
Proof. by apply: (model_law _ vocab3E); vm_compute. Qed.

Theorem token_ties_biased :
  emitted Rheo (@by_token 3) RheoVerification tie_q tie_p 1 2 2 1 1 [:: zero3] = 3%:Q / 4%:Q
  /\ target tie_p [::] [:: zero3] = 1%:Q / 2%:Q.
Proof.
split; last by apply/eqP; vm_compute.
rewrite (emitted_evaluate (x0 := zero3) (n := 9) _ _ _ vocab3E tie_q_law); last by vm_compute.
by apply/eqP; vm_compute.
Qed.

(** ** A proxy below the fills

    No lead, q = (1/2, 3/10, 1/5), the probe at 4/5 of q(x1) = 2/5. Its weight is blind to its token; that of the fill
    behind it is not: it is 3/10 when the probe drew token 0, and 1/2 when it did not. So the probe is kept, as one
    node of one, exactly when it drew token 0. *)
Definition low_q : seq 'I_3 -> 'I_3 -> rat := model [:: 1%:Q / 2%:Q; 3%:Q / 10%:Q; 1%:Q / 5%:Q] [::].
Definition low_p : seq 'I_3 -> 'I_3 -> rat := model [:: 1%:Q / 4%:Q; 1%:Q / 4%:Q; 1%:Q / 2%:Q] [::].

Lemma low_q_law s : is_law (low_q s).
Proof. by apply: (model_law _ vocab3E); vm_compute. Qed.

Lemma low_weight_blind s h x y : low_weight low_q 0 (4%:Q / 5%:Q) s h x = low_weight low_q 0 (4%:Q / 5%:Q) s h y.
Proof. by []. Qed.

Theorem low_proxy_biased :
  emitted (Low (4%:Q / 5%:Q)) (@no_tie 'I_3) RheoVerification low_q low_p 0 2 2 1 1 [:: zero3] = 3%:Q / 8%:Q
  /\ target low_p [::] [:: zero3] = 1%:Q / 4%:Q.
Proof.
split; last by apply/eqP; vm_compute.
rewrite (emitted_evaluate (x0 := zero3) (n := 9) _ _ _ vocab3E low_q_law); last by vm_compute.
by apply/eqP; vm_compute.
Qed.
