(** The headline theorems, restated in full.

    A theorem that was weakened in its own file no longer proves its restatement here, and this file fails. The
    definitions that the statements rest on are repeated in definitions.v in the same way. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers one_hot walk draws predictable ranking rank_invariance kept
  survival.
From rheocheck Require Import dynamic certificate rule steep rheo_sampling cycles sampling block transport queries
  explore.
From rheocheck Require Import best_first renaming program evaluator pairs counterexamples.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** * One node *)

Section Node.
Variables (T : finType) (R : realFieldType).
Implicit Types (p r l : T -> R) (x y : T).

(** the rule of Leviathan et al. emits the target, for a token drawn from l *)
Theorem one_draft_exact p r l y : is_law r -> is_law l ->
  \sum_x l x * (Num.min 1 (r x / l x) * (y == x)%:R + (1 - Num.min 1 (r x / l x)) * residual p r l y) = r y.
Proof. exact: attempt_exact. Qed.

Variables (C : Type) (claim : C -> T -> R) (sampled : C -> bool).
Hypothesis claim_law : forall c, is_law (claim c).

(** each verifier emits exactly p, whatever honest claims the builder makes and however they depend on earlier draws *)
Theorem matching_node_exact p (a : ask T C) y : is_law p -> expect claim a (fun h => matching p h y) [::] = p y.
Proof. exact: matching_exact. Qed.

Theorem recursive_node_exact p (a : ask T C) y : is_law p ->
  expect claim a (fun h => recursive claim p p h y) [::] = p y.
Proof. exact: recursive_exact. Qed.

Theorem rheo_node_exact p (a : ask T C) y : is_law p -> expect claim a (fun h => rheo claim sampled p h y) [::] = p y.
Proof. exact: rheo_exact. Qed.

(** one-hot collapse: without draws, recursive rejection is matching *)
Theorem one_hot_collapse p (h : seq (C * T)) y : is_law p ->
  (forall i d, (i < size h)%N -> claim (nth d h i).1 = point R (nth d h i).2) ->
  recursive claim p p h y = p y.
Proof. by move=> pl; apply: recursive_point. Qed.
End Node.

(** * Paths *)

Section Paths.
Variables (T : finType) (R : realFieldType) (K : eqType) (ctx : K -> seq T) (claim : K -> T -> R).
Variables (rule : (T -> R) -> seq (K * T) -> T -> R) (p : seq T -> T -> R).

(** no tilt: one more node, drawn from its claim, does not change the chance of any word *)
Theorem no_tilt t k c w : (forall k, is_law (claim k)) -> (forall c, is_law (p c)) -> honest claim rule ->
  \sum_x claim k x * spell ctx rule p (rcons t (k, x)) c w = spell ctx rule p t c w.
Proof. by move=> cl pl ho; apply: spell_honest. Qed.

(** the path lemma: what is emitted is the product of node rules along the word, the completion included *)
Theorem path_product t c w : (forall c y, rule (p c) [::] y = p c y) -> closed ctx t ->
  emit ctx rule p (target p) t c w = spell ctx rule p t c w.
Proof. by move=> st; apply: emit_spell. Qed.

(** matching needs no honesty: any tree, however it came about *)
Theorem matching_any_tree t c w : emit ctx (@matching T R K) p (target p) t c w = target p c w.
Proof. exact: matching_lossless. Qed.
End Paths.

(** * Dynamic trees *)

Section Trees.
Variables (T : eqType) (R : realFieldType).
Variables (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R) (tie : T -> nat).
Variables (branching frontier depth budget : nat).
Local Notation build := (build more wt tie branching frontier depth budget).
Local Notation place_of := (@place_of T R).
Local Notation steep := (steep more wt branching).

Hypothesis tie_blind : forall x y, tie x = tie y.
Hypothesis wt_blind : forall s h x y, wt s h x = wt s h y.

(** rank invariance *)
Theorem next_slot_is_predictable Y Y' i : steep Y -> steep Y' ->
  take i (map (@entry T R) (build Y)) = take i (map (@entry T R) (build Y')) ->
  ohead (drop i (map place_of (build Y))) = ohead (drop i (map place_of (build Y'))).
Proof. exact: build_predictable. Qed.

(** survival in the budget cut, and in the cut of each layer, does not depend on the token drawn *)
Theorem survival_is_blind Y Y' s h : steep Y -> steep Y' ->
  (forall k, k != (s, h) -> Y k.1 k.2 = Y' k.1 k.2) ->
  ((s, h) \in map place_of (build Y)) = ((s, h) \in map place_of (build Y')).
Proof. exact: survival. Qed.

Theorem frontier_survival_is_blind Y Y' s h d : (d < depth)%N -> steep Y -> steep Y' ->
  (forall k, k != (s, h) -> Y k.1 k.2 = Y' k.1 k.2) ->
  ((s, h) \in map place_of (frontier_at more wt tie branching frontier Y d))
  = ((s, h) \in map place_of (frontier_at more wt tie branching frontier Y' d)).
Proof. exact: frontier_survival. Qed.

(** survivors of a node are a prefix of its slots *)
Theorem survivors_are_a_slot_prefix Y n j : steep Y -> n \in build Y -> (j < slot n)%N ->
  exists m, [/\ m \in build Y, ctx m = ctx n, slot m = j & sibs m = take j (sibs n)].
Proof. exact: slot_prefix. Qed.

(** popping the best candidate of a heap, [budget] times, keeps the same nodes as the layers do *)
Theorem best_first_is_layer_wise Y : steep Y ->
  pop more wt tie branching frontier depth Y budget
    (if (0 < depth)%N then cands more wt tie branching frontier Y 0 else [::]) [::] = build Y.
Proof. exact: best_first_build. Qed.
End Trees.

(** any dynamic tree whose ranks are blind to its draws, under any honest verifier *)
Theorem blind_ranking_is_lossless (T : finType) (R : realFieldType) (more : seq T -> seq T -> bool)
    (wt : seq T -> seq T -> T -> R) (tie : T -> nat) (branching frontier depth budget : nat)
    (law : seq T -> seq T -> T -> R)
    (rule : (T -> R) -> seq (place T branching depth * T) -> T -> R) (p : seq T -> T -> R) w :
  (forall s h, is_law (law s h)) -> (forall x y, tie x = tie y) -> (forall s h x y, wt s h x = wt s h y) ->
  (forall Z, (forall s h, law s h (Z s h) != 0) -> steep more wt branching Z) ->
  (forall c, is_law (p c)) -> honest (claim law) rule -> (forall c y, rule (p c) [::] y = p c y) ->
  \sum_Y weight (claim law) Y *
     emit (@context_of T branching depth) rule p (target p)
          (tree (kept more wt tie frontier budget law) Y) [::] w
  = target p [::] w.
Proof. by move=> *; apply: dynamic_lossless. Qed.

(** the certificate: a verifier need be honest only at the slots of each context, in their order, with what they can
    hold *)
Theorem certificate_is_sound (T : finType) (R : realFieldType) (more : seq T -> seq T -> bool)
    (wt : seq T -> seq T -> T -> R) (tie : T -> nat) (branching frontier depth budget : nat)
    (law : seq T -> seq T -> T -> R)
    (rule : (T -> R) -> seq (place T branching depth * T) -> T -> R) (p : seq T -> T -> R) w :
  let held Z s i := [seq (place_at branching depth s (sib Z s j), Z s (sib Z s j)) | j <- iota 0 i] in
  (forall s h, is_law (law s h)) -> (forall x y, tie x = tie y) -> (forall s h x y, wt s h x = wt s h y) ->
  (forall Z, (forall s h, law s h (Z s h) != 0) -> steep more wt branching Z) ->
  (forall c y, rule (p c) [::] y = p c y) ->
  (forall Z s i y, (forall s h, law s h (Z s h) != 0) -> (size s < depth)%N -> (i < nslots more branching Z s)%N ->
    \sum_x law s (sib Z s i) x * rule (p s) (rcons (held Z s i) (place_at branching depth s (sib Z s i), x)) y
    = rule (p s) (held Z s i) y) ->
  \sum_Y weight (claim law) Y *
     emit (@context_of T branching depth) rule p (target p)
          (tree (kept more wt tie frontier budget law) Y) [::] w
  = target p [::] w.
Proof. by move=> held lo tb wb sp rs sh; apply: certificate_sound. Qed.

(** every honest verifier passes it *)
Theorem honest_verifiers_are_certified (T : finType) (R : realFieldType) (more : seq T -> seq T -> bool)
    (branching depth : nat) (law : seq T -> seq T -> T -> R)
    (rule : (T -> R) -> seq (place T branching depth * T) -> T -> R) (p : seq T -> T -> R) Z s i y :
  let held Z s i := [seq (place_at branching depth s (sib Z s j), Z s (sib Z s j)) | j <- iota 0 i] in
  (forall c, is_law (p c)) -> honest (claim law) rule -> (size s < depth)%N -> (i < nslots more branching Z s)%N ->
  \sum_x law s (sib Z s i) x * rule (p s) (rcons (held Z s i) (place_at branching depth s (sib Z s i), x)) y
  = rule (p s) (held Z s i) y.
Proof. by move=> held; apply: honest_certified. Qed.

(** * RheoSampling *)

Section Rheo.
Variables (T : finType) (R : realFieldType) (lead branching frontier depth budget : nat).
Local Notation ctx := (@context_of T branching depth).

Theorem rheo_sampling_is_lossless (q p : seq T -> T -> R) rule w :
  (forall s, is_law (q s)) -> (forall c, is_law (p c)) ->
  honest (laws q lead branching depth) rule -> (forall c y, rule (p c) [::] y = p c y) ->
  \sum_Y weight (laws q lead branching depth) Y *
     emit ctx rule p (target p) (trees q lead branching frontier depth budget Y) [::] w
  = target p [::] w.
Proof. by move=> *; apply: rheo_lossless. Qed.

Theorem rheo_sampling_with_recursive (q p : seq T -> T -> R) w : (forall s, is_law (q s)) -> (forall c, is_law (p c)) ->
  \sum_Y weight (laws q lead branching depth) Y *
     emit ctx (fun r => recursive (laws q lead branching depth) r r) p (target p)
          (trees q lead branching frontier depth budget Y) [::] w
  = target p [::] w.
Proof. by move=> *; apply: rheo_recursive. Qed.

Theorem rheo_sampling_with_rheo (q p : seq T -> T -> R) w : (forall s, is_law (q s)) -> (forall c, is_law (p c)) ->
  \sum_Y weight (laws q lead branching depth) Y *
     emit ctx (rheo (laws q lead branching depth) (@sampled T lead branching depth)) p (target p)
          (trees q lead branching frontier depth budget Y) [::] w
  = target p [::] w.
Proof. by move=> *; apply: rheo_rheo. Qed.

Theorem top_k_is_lossless (q p : seq T -> T -> R) rule w :
  (forall s, is_law (q s)) -> (forall c, is_law (p c)) ->
  honest (laws q branching branching depth) rule -> (forall c y, rule (p c) [::] y = p c y) ->
  \sum_Y weight (laws q branching branching depth) Y *
     emit ctx rule p (target p) (trees q branching branching frontier depth budget Y) [::] w
  = target p [::] w.
Proof. by move=> *; apply: top_k_lossless. Qed.

(** any number of cycles; the drafter may change with the text and with the cycle, and so may the verifier *)
Theorem honest_over_cycles (q : nat -> seq T -> seq T -> T -> R) (p : seq T -> T -> R) rule n c w :
  (forall m c s, is_law (q m c s)) -> (forall s, is_law (p s)) ->
  (forall m c, honest (laws (q m c) lead branching depth) (rule m c)) ->
  (forall m c s y, rule m c (p s) [::] y = p s y) ->
  generate p ctx rule (fun m c => weight (laws (q m c) lead branching depth))
    (fun m c => trees (q m c) lead branching frontier depth budget) n c w
  = target p c w.
Proof. by move=> *; apply: honest_cycles. Qed.

Theorem rheo_sampling_over_cycles (q : nat -> seq T -> seq T -> T -> R) (p : seq T -> T -> R) n c w :
  (forall m c s, is_law (q m c s)) -> (forall s, is_law (p s)) ->
  generate p ctx (fun m c => rheo (laws (q m c) lead branching depth) (@sampled T lead branching depth))
    (fun m c => weight (laws (q m c) lead branching depth))
    (fun m c => trees (q m c) lead branching frontier depth budget) n c w
  = target p c w.
Proof. by move=> *; apply: rheo_cycles. Qed.

Theorem recursive_over_cycles (q : nat -> seq T -> seq T -> T -> R) (p : seq T -> T -> R) n c w :
  (forall m c s, is_law (q m c s)) -> (forall s, is_law (p s)) ->
  generate p ctx (fun m c r => recursive (laws (q m c) lead branching depth) r r)
    (fun m c => weight (laws (q m c) lead branching depth))
    (fun m c => trees (q m c) lead branching frontier depth budget) n c w
  = target p c w.
Proof. by move=> *; apply: recursive_cycles. Qed.
End Rheo.

(** * Programs *)

Section Programs.
Variables (T : finType) (R : realFieldType) (lead branching frontier depth budget : nat).

(** RheoSampling written as a program that draws a token when it first looks at it, with any of the three verifiers, its
    block completed to the length of w: it emits w as often as the target does *)
Theorem rheo_sampling_program_is_lossless (q p : seq T -> T -> R) v x0 w :
  (forall s, is_law (q s)) -> (forall c, is_law (p c)) ->
  prob (cycle_program q p lead branching frontier depth budget v x0 (size w)) w = target p [::] w.
Proof. by move=> *; apply: program_lossless. Qed.

(** the law and the expected length of the block that this program emits by itself *)
Theorem rheo_sampling_block_law (q p : seq T -> T -> R) v x0 w :
  (forall s, is_law (q s)) -> (forall c, is_law (p c)) -> (size w <= depth.+1)%N ->
  prob (block_program q p lead branching frontier depth budget v x0) w
  = \sum_Y weight (laws q lead branching depth) Y *
      block_law fst (rule_of (claim_at q lead) (@drawn_at T lead) v) p
        (map (@dynamic.decode T branching depth) (trees q lead branching frontier depth budget Y)) [::] w.
Proof. by move=> *; apply: block_program_law. Qed.

Theorem rheo_sampling_expected_block_length (q p : seq T -> T -> R) v x0 :
  (forall s, is_law (q s)) -> (forall c, is_law (p c)) ->
  mean (block_program q p lead branching frontier depth budget v x0) (fun w => (size w)%:R)
  = \sum_Y weight (laws q lead branching depth) Y *
      (\sum_(d < depth.+1) longer fst (rule_of (claim_at q lead) (@drawn_at T lead) v) p
        (map (@dynamic.decode T branching depth) (trees q lead branching frontier depth budget Y)) d [::]).
Proof. by move=> *; apply: block_program_length. Qed.
End Programs.

(** * The block *)

Section Blocks.
Variables (T : finType) (R : realFieldType) (K : eqType) (ctx : K -> seq T).
Variables (rule : (T -> R) -> seq (K * T) -> T -> R) (program : (T -> R) -> seq (K * T) -> dist R (T * bool)).
Variable p : seq T -> T -> R.

(** completed by the target, the block is the text that [emit] speaks of *)
Theorem block_completed t c w : emit ctx rule p (target p) t c w
  = \sum_(i < size w) block_law ctx rule p t c (take i.+1 w) * target p (c ++ take i.+1 w) (drop i.+1 w)
    + pass ctx rule p t c w.
Proof. exact: emit_block. Qed.

(** [emit] is a likelihood: a program that walks the tree, with a verifier that flips coins and chooses tokens, its
    block completed by the target, emits w with this probability *)
Theorem walk_program_law t c w : (forall c, is_law (p c)) ->
  (forall c, carries_out program rule (kids ctx t c)) ->
  prob (walk ctx program p t (size w) c) w = emit ctx rule p (target p) t c w.
Proof. by move=> pl co; apply: program_walk. Qed.

(** the block of the program has the law [block_law], and the expected length of a sum of tails *)
Theorem block_program_law t n c w : (forall c, is_law (p c)) ->
  (forall c, carries_out program rule (kids ctx t c)) -> (size w <= n.+1)%N ->
  prob (block ctx program p t n c) w = block_law ctx rule p t c w.
Proof. by move=> pl co sw; apply: program_block. Qed.

Theorem expected_block_length t n c : (forall c, is_law (p c)) ->
  (forall c, carries_out program rule (kids ctx t c)) -> (forall c, is_law (rule (p c) (kids ctx t c))) ->
  (forall c', size c' = (size c + n)%N -> kids ctx t c' = [::]) ->
  mean (block ctx program p t n c) (fun w => (size w)%:R) = \sum_(d < n.+1) longer ctx rule p t d c.
Proof. by move=> pl co rl wt; apply: expected_length. Qed.

(** the one-hot ceiling *)
Theorem one_hot_ceiling t n : closed ctx t -> uniq [seq rcons (ctx e.1) e.2 | e <- t] ->
  (forall c y, rule (p c) (kids ctx t c) y = p c y) -> (forall e, e \in t -> size (ctx e.1) < n)%N ->
  \sum_(d < n.+1) longer ctx rule p t d [::] = 1 + \sum_(e <- t) target p [::] (rcons (ctx e.1) e.2).
Proof. by move=> *; apply: one_hot_length. Qed.
End Blocks.

(** * Acceptance *)

Section Acceptance.
Variables (T : finType) (R : realFieldType).

(** no verifier accepts more than this ... *)
Theorem acceptance_bound (p l : T -> R) (leads : seq T) (V : T -> T -> R) : is_law l -> (forall x, is_law (V x)) ->
  (forall x, x \in leads -> l x = 0) -> (forall y, \sum_x l x * V x y = p y) ->
  \sum_x l x * (\sum_(y | (y \in leads) || (y == x)) V x y)
  <= \sum_(y | y \in leads) p y + \sum_x Num.min (l x) (p x).
Proof. exact: transport_bound. Qed.

(** ... and RheoVerification accepts as much, when no fill is kept *)
Theorem rheo_attains_the_bound (C : Type) (claim : C -> T -> R) (sampled : C -> bool) (p : T -> R) (h : seq (C * T)) c :
  (forall c, is_law (claim c)) -> is_law p -> all (fun e => ~~ sampled e.1) h -> sampled c ->
  (forall x, x \in [seq e.2 | e <- h] -> claim c x = 0) ->
  \sum_x claim c x * (\sum_(y | (y \in [seq e.2 | e <- h]) || (y == x)) rheo claim sampled p (rcons h (c, x)) y)
  = \sum_(y | y \in [seq e.2 | e <- h]) p y + \sum_x Num.min (claim c x) (p x).
Proof. by move=> *; apply: rheo_attains. Qed.
End Acceptance.

(** * What goes wrong *)

(** the evaluator computes what the theorems speak of, for any builder of the family and any ties *)
Theorem evaluator_is_exact (T : finType) (R : realFieldType) (vocab : seq T) (b : builder R) tie v
    (q p : seq T -> T -> R)
    lead branching frontier depth budget x0 n w :
  vocab = enum T -> (forall s, is_law (q s)) -> complete vocab b tie q lead branching frontier depth budget x0 n ->
  \sum_Y weight (laws q lead branching depth) Y *
    emit (@context_of T branching depth) (rule_of (laws q lead branching depth) (@sampled T lead branching depth) v) p
         (target p) (tree (kept (more q) (weight_of q lead b) tie frontier budget (law q lead)) Y) [::] w
  = evaluate vocab b v tie q p lead branching frontier depth budget x0 n w.
Proof. exact: emitted_evaluate. Qed.

Theorem length_evaluator_is_exact (T : finType) (R : realFieldType) (vocab : seq T) (b : builder R) tie v
    (q p : seq T -> T -> R) lead branching frontier depth budget x0 n (x : R) :
  vocab = enum T -> (forall s, is_law (q s)) ->
  complete vocab b tie q lead branching frontier depth budget x0 n
  && (evaluate_length vocab b v tie q p lead branching frontier depth budget x0 n == x) ->
  \sum_Y weight (laws q lead branching depth) Y *
    (\sum_(d < depth.+1)
       longer fst (rule_of (fun k : site T => law q lead k.1 k.2) (fun k => size k.2 == lead) v) p
         (map (@dynamic.decode T branching depth)
              (tree (kept (more q) (weight_of q lead b) tie frontier budget (law q lead)) Y)) d [::])
  = x.
Proof. exact: mean_length_evaluate. Qed.

(** naive ranking: 4/9 instead of 1/3 *)
Theorem naive_ranking_is_biased :
  let q := model [:: 2%:Q / 3%:Q; 1%:Q / 3%:Q] [::] in
  let p := model [:: 1%:Q / 3%:Q; 2%:Q / 3%:Q] [::] in
  \sum_Y weight (laws q 0 2 1) Y *
    emit (@context_of _ 2 1) (rheo (laws q 0 2 1) (@sampled _ 0 2 1)) p (target p)
      (tree (kept (more q) (naive_weight q 0) (fun _ => 0%N) 2 1 (law q 0)) Y) [::] [:: zero2]
  = 4%:Q / 9%:Q /\ target p [::] [:: zero2] = 1%:Q / 3%:Q.
Proof. exact: naive_biased. Qed.

(** ties decided by the token: 3/4 instead of 1/2 *)
Theorem token_ties_are_biased :
  let q := model [:: 1%:Q / 4%:Q; 1%:Q / 2%:Q; 1%:Q / 4%:Q] [::] in
  let p := model [:: 1%:Q / 2%:Q; 1%:Q / 4%:Q; 1%:Q / 4%:Q] [::] in
  \sum_Y weight (laws q 1 2 1) Y *
    emit (@context_of _ 2 1) (rheo (laws q 1 2 1) (@sampled _ 1 2 1)) p (target p)
      (tree (kept (more q) (rheo_weight q 1) (fun x : 'I_3 => val x) 2 1 (law q 1)) Y) [::] [:: zero3]
  = 3%:Q / 4%:Q /\ target p [::] [:: zero3] = 1%:Q / 2%:Q.
Proof. exact: token_ties_biased. Qed.

(** a proxy below the fills, blind though it is: 3/8 instead of 1/4 *)
Theorem low_proxy_is_biased :
  let q := model [:: 1%:Q / 2%:Q; 3%:Q / 10%:Q; 1%:Q / 5%:Q] [::] in
  let p := model [:: 1%:Q / 4%:Q; 1%:Q / 4%:Q; 1%:Q / 2%:Q] [::] in
  \sum_Y weight (laws q 0 2 1) Y *
    emit (@context_of _ 2 1) (rheo (laws q 0 2 1) (@sampled _ 0 2 1)) p (target p)
      (tree (kept (more q) (low_weight q 0 (4%:Q / 5%:Q)) (fun _ => 0%N) 2 1 (law q 0)) Y) [::] [:: zero3]
  = 3%:Q / 8%:Q /\ target p [::] [:: zero3] = 1%:Q / 4%:Q.
Proof. exact: low_proxy_biased. Qed.
