(** The definitions that the headline theorems rest on, repeated.

    Each must be equal to the original by computation: a definition that was changed to make a theorem easier fails
    here. Read it before statements.v, with the code of rheocheck.core beside it. *)
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

Fact is_law_is p : is_law p = ((forall x, 0 <= p x) /\ \sum_x p x = 1).
Proof. by []. Qed.

Fact attempt_is r l x k y : attempt r l x k y = Num.min 1 (r x / l x) * (y == x)%:R + (1 - Num.min 1 (r x / l x)) * k y.
Proof. by []. Qed.

Fact point_is x y : point R x y = (y == x)%:R.
Proof. by []. Qed.

Fact residual_is p r l y : residual p r l y =
  if \sum_x Num.max 0 (r x - l x) == 0 then p y else Num.max 0 (r y - l y) / \sum_x Num.max 0 (r x - l x).
Proof. by []. Qed.

Variables (C : Type) (claim : C -> T -> R) (sampled : C -> bool).
Hypothesis claim_law : forall c, is_law (claim c).

Fact honest_is rule : honest claim rule =
  (forall p h c y, is_law p -> \sum_x claim c x * rule p (rcons h (c, x)) y = rule p h y).
Proof. by []. Qed.

Fact matching_is p (h : seq (C * T)) : matching p h = p.
Proof. by []. Qed.

Fact recursive_is p r c x h : recursive claim p r ((c, x) :: h)
  = attempt r (claim c) x (recursive claim p (residual p r (claim c)) h).
Proof. by []. Qed.

Fact recursive_start p r : recursive claim p r [::] = r.
Proof. by []. Qed.

Fact rheo_is p h : rheo claim sampled p h =
  if [seq e <- h | sampled e.1] is (c, x) :: _ then attempt p (claim c) x (residual p p (claim c)) else p.
Proof. by []. Qed.

Fact expect_is c k f h : expect claim (Ask c k) f h = \sum_x claim c x * expect claim (k x) f (rcons h (c, x)).
Proof. by []. Qed.

Fact expect_done f h : expect claim (Done T C) f h = f h.
Proof. by []. Qed.
End Node.

(** * Paths *)

Section Paths.
Variables (T : finType) (R : realFieldType) (K : eqType) (ctx : K -> seq T) (claim : K -> T -> R).
Variables (rule : (T -> R) -> seq (K * T) -> T -> R) (p : seq T -> T -> R).

Fact closed_is t : closed ctx t =
  (forall e, e \in t -> ctx e.1 = [::] \/ exists2 e', e' \in t & ctx e.1 = rcons (ctx e'.1) e'.2).
Proof. by []. Qed.

Fact target_is c y w : target p c (y :: w) = p c y * target p (rcons c y) w.
Proof. by []. Qed.

Fact target_end c : target p c [::] = 1.
Proof. by []. Qed.

Fact emit_is rest t c y w : emit ctx rule p rest t c (y :: w) =
  rule (p c) [seq e <- t | ctx e.1 == c] y *
  (if y \in [seq e.2 | e <- [seq e <- t | ctx e.1 == c]] then emit ctx rule p rest t (rcons c y) w
   else rest (rcons c y) w).
Proof. by []. Qed.

Fact emit_end rest t c : emit ctx rule p rest t c [::] = 1.
Proof. by []. Qed.

Fact spell_is t c y w : spell ctx rule p t c (y :: w) =
  rule (p c) [seq e <- t | ctx e.1 == c] y * spell ctx rule p t (rcons c y) w.
Proof. by []. Qed.

Fact spell_end t c : spell ctx rule p t c [::] = 1.
Proof. by []. Qed.
End Paths.

(** * Dynamic trees *)

Section Trees.
Variables (T : eqType) (R : realFieldType).
Variables (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R) (tie : T -> nat).
Variables (branching frontier depth budget : nat).
Local Notation build := (build more wt tie branching frontier depth budget).
Local Notation place_of := (@place_of T R).
Local Notation steep := (steep more wt branching).

Fact rank_is (n : node T R) : rank tie n = (score n, (layer n, (tie (tok n), (prank n, slot n)))).
Proof. by []. Qed.

(** the higher score is before; then the smaller layer, tie, parent's rank, slot *)
Fact before_is (a b : node T R) : before tie a b =
  (score b <= score a) && ((score a <= score b) ==>
  (layer a <= layer b)%N && ((layer b <= layer a)%N ==>
  (tie (tok a) <= tie (tok b))%N && ((tie (tok b) <= tie (tok a))%N ==>
  (prank a <= prank b)%N && ((prank b <= prank a)%N ==> (slot a <= slot b)%N)))).
Proof. by rewrite /before /rank !lexi_pair. Qed.

Fact sib_is (Y : seq T -> seq T -> T) s i : sib Y s i.+1 = rcons (sib Y s i) (Y s (sib Y s i)).
Proof. by []. Qed.

Fact nslots_is (Y : seq T -> seq T -> T) s :
  nslots more branching Y s = find (fun i => ~~ more s (sib Y s i)) (iota 0 branching).
Proof. by []. Qed.

Fact place_is Y (f : R * seq T) d k i : ranking.place wt Y f d k i =
  let h := sib Y f.2 i in Node (f.1 * wt f.2 h (Y f.2 h)) d k i f.2 h (Y f.2 h).
Proof. by []. Qed.

Fact expand_is Y d P : expand more wt branching Y d P =
  [seq ranking.place wt Y (nth (0, [::]) P k) d k i
  | k <- iota 0 (size P), i <- iota 0 (nslots more branching Y (nth (0, [::]) P k).2)].
Proof. by []. Qed.

Fact front_is Y d : front more wt tie branching frontier Y d.+1 =
  [seq (score n, rcons (ctx n) (tok n))
  | n <- take frontier (sort (before tie) (expand more wt branching Y d (front more wt tie branching frontier Y d)))].
Proof. by []. Qed.

Fact front_start Y : front more wt tie branching frontier Y 0 = [:: (1, [::])].
Proof. by []. Qed.

Fact steep_is Y : steep Y = (forall s i, (i < nslots more branching Y s)%N ->
  let w j := wt s (sib Y s j) (Y s (sib Y s j)) in
  [/\ 0 <= w i <= 1, (forall j, (j < i)%N -> w i <= w j) & Y s (sib Y s i) \notin sib Y s i]).
Proof. by []. Qed.

Fact build_is Y : build Y = take budget (sort (before tie)
  (flatten [seq expand more wt branching Y d (front more wt tie branching frontier Y d) | d <- iota 0 depth])).
Proof. by []. Qed.

Fact frontier_at_is Y d : frontier_at more wt tie branching frontier Y d =
  take frontier (sort (before tie) (expand more wt branching Y d (front more wt tie branching frontier Y d))).
Proof. by []. Qed.

Fact place_of_is (n : node T R) : place_of n = (ctx n, sibs n).
Proof. by []. Qed.

Fact entry_is (n : node T R) : entry n = (ctx n, sibs n, tok n).
Proof. by []. Qed.

(** one pop of the heap *)
Fact pop_is Y n heap popped : pop more wt tie branching frontier depth Y n.+1 heap popped =
  if sort (before tie) heap is e :: heap' then
    pop more wt tie branching frontier depth Y n
      (heap' ++ (let k := count (fun z => layer z == layer e) popped in
                 if (k < frontier)%N && ((layer e).+1 < depth)%N then children more wt branching Y k e else [::]))
      (rcons popped e)
  else popped.
Proof. by []. Qed.

Fact children_is Y k (e : node T R) : children more wt branching Y k e =
  [seq ranking.place wt Y (score e, rcons (ctx e) (tok e)) (layer e).+1 k i
  | i <- iota 0 (nslots more branching Y (rcons (ctx e) (tok e)))].
Proof. by []. Qed.
End Trees.

Section Places.
Variables (T : finType) (R : realFieldType) (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R).
Variables (tie : T -> nat) (branching frontier depth budget : nat) (law : seq T -> seq T -> T -> R).

Fact claim_is (k : place T branching depth) : claim law k = law (val k.1) (val k.2).
Proof. by []. Qed.

Fact context_of_is (k : place T branching depth) : context_of k = val k.1.
Proof. by []. Qed.

Fact decode_is (k : place T branching depth) x : dynamic.decode (k, x) = (val k.1, val k.2, x).
Proof. by []. Qed.

Fact tree_is Y : tree (kept more wt tie frontier budget law) Y =
  [seq (k, Y k) | k <- [seq place_at branching depth (ctx n) (sibs n)
                       | n <- build more wt tie branching frontier depth budget (draws law Y)]].
Proof. by []. Qed.

(** a place within bounds holds what was drawn there *)
Fact draws_is (Y : {ffun place T branching depth -> T}) s h : (size s <= depth)%N -> (size h <= branching)%N ->
  draws law Y s h = Y (place_at branching depth s h).
Proof. by move=> ss sh; rewrite /draws ss sh. Qed.
End Places.

(** * RheoSampling *)

Section Rheo.
Variables (T : finType) (R : realFieldType) (lead branching frontier depth budget : nat).
Local Notation ctx := (@context_of T branching depth).

Fact rheo_weight_is (q : seq T -> T -> R) s h x : rheo_weight q lead s h x =
  if size h == lead then
    (if h is a :: h' then Num.min (q s (last a h')) (\sum_(x | x \notin h) q s x) else top q s h)
  else top q s h.
Proof. by []. Qed.

Fact naive_weight_is (q : seq T -> T -> R) s h x : naive_weight q lead s h x =
  if size h == lead then q s x else top q s h.
Proof. by []. Qed.

Fact low_weight_is (q : seq T -> T -> R) c s h x : low_weight q lead c s h x =
  if size h == lead then rheo_weight q lead s h x * c else top q s h.
Proof. by rewrite /rheo_weight /low_weight /slot_weight; case: ifP. Qed.

Fact more_is (q : seq T -> T -> R) s h : more q s h = (rest q s h != [::]).
Proof. by []. Qed.

Fact sampled_is (k : place T branching depth) : sampled lead k = (size (val k.2) == lead).
Proof. by []. Qed.

Fact rest_is (q : seq T -> T -> R) s h :
  rest q s h = [seq x <- sort (fun x y => q s y <= q s x) (enum T) | (0 < q s x) && (x \notin h)].
Proof. by []. Qed.

Fact top_is (q : seq T -> T -> R) s h b l : rest q s h = b :: l -> top q s h = q s b.
Proof. by rewrite /top => ->. Qed.

Fact trees_is (q : seq T -> T -> R) : trees q lead branching frontier depth budget =
  tree (@kept T R (fun s h => rest q s h != [::]) (rheo_weight q lead) (fun _ => 0%N) branching frontier depth budget
          (law q lead)).
Proof. by []. Qed.

Fact generate_is (p : seq T -> T -> R) (D : finType) rule (wgt : nat -> seq T -> D -> R) tr n c w :
  generate p ctx rule wgt tr n.+1 c w =
  \sum_Y wgt n c Y * emit ctx (rule n c) (fun s => p (c ++ s)) (fun d =>
    generate p ctx rule wgt tr n (c ++ d)) (tr n c Y)
                       [::] w.
Proof. by []. Qed.

Fact generate_end (p : seq T -> T -> R) (D : finType) rule (wgt : nat -> seq T -> D -> R) tr c w :
  generate p ctx rule wgt tr 0 c w = target p c w.
Proof. by []. Qed.

Fact rheo_law_is (q : seq T -> T -> R) s h b l x : rest q s h = b :: l -> law q lead s h x =
  if size h == lead then (if x \in h then 0 else q s x / \sum_(x | x \notin h) q s x) else point R b x.
Proof. by rewrite /law => ->. Qed.

Fact weight_is (q : seq T -> T -> R) (Y : {ffun place T branching depth -> T}) :
  weight (laws q lead branching depth) Y = \prod_k law q lead (val k.1) (val k.2) (Y k).
Proof. by []. Qed.
End Rheo.

(** the pairs of the negative theorems: one row for every context *)
Fact model_is (R : realFieldType) n (row : seq R) s (x : 'I_n) : model row [::] s x = nth 0 row x.
Proof. by rewrite /model; congr (nth 0 _ _); elim: (map val s). Qed.

(** * Programs *)

Section Programs.
Variables (T : finType) (R : realFieldType) (lead branching frontier depth budget : nat).

Fact bind_is A B (d : dist R A) (f : A -> dist R B) :
  bind d f = flatten [seq [seq (e.1 * e'.1, e'.2) | e' <- f e.2] | e <- d].
Proof. by []. Qed.

Fact ret_is A (a : A) : ret R a = [:: (1, a)].
Proof. by []. Qed.

Fact flip_is (a : R) : flip a = [:: (a, true); (1 - a, false)].
Proof. by []. Qed.

Fact choose_is (l : T -> R) : choose l = [seq (l x, x) | x <- enum T].
Proof. by []. Qed.

Fact mean_is A (d : dist R A) g : mean d g = \sum_(e <- d) e.1 * g e.2.
Proof. by []. Qed.

Fact prob_is (A : eqType) (d : dist R A) a : prob d a = \sum_(e <- d) e.1 * (e.2 == a)%:R.
Proof. by []. Qed.

(** the verifiers of rheocheck.core, each returning (token, descend) *)
Section Verifiers.
Variables (C : Type) (claim : C -> T -> R) (sampled : C -> bool).

Fact matching_program_is p (h : seq (C * T)) : matching_program p h =
  bind (choose p) (fun y => ret R (y, y \in [seq e.2 | e <- h])).
Proof. by []. Qed.

Fact recursive_program_is p r c x h : recursive_program claim p r ((c, x) :: h) =
  bind (flip (Num.min 1 (r x / claim c x))) (fun yes =>
    if yes then ret R (x, true) else recursive_program claim p (residual p r (claim c)) h).
Proof. by []. Qed.

Fact recursive_program_end p r : recursive_program claim p r [::] = bind (choose r) (fun y => ret R (y, false)).
Proof. by []. Qed.

Fact rheo_program_is p h : rheo_program claim sampled p h =
  bind (if [seq e <- h | sampled e.1] is (c, x) :: _ then
          bind (flip (Num.min 1 (p x / claim c x))) (fun yes =>
            if yes then ret R x else choose (residual p p (claim c)))
        else choose p)
    (fun y => ret R (y, y \in [seq e.2 | e <- h])).
Proof. by []. Qed.

Fact rule_of_is : [/\ rule_of claim sampled Matching = @matching T R C,
  rule_of claim sampled Recursive = (fun p => recursive claim p p) &
  rule_of claim sampled RheoVerification = rheo claim sampled].
Proof. by []. Qed.
End Verifiers.

Fact claim_at_is (q : seq T -> T -> R) (k : site T) : claim_at q lead k = law q lead k.1 k.2.
Proof. by []. Qed.

Fact drawn_at_is (k : site T) : drawn_at lead k = (size k.2 == lead).
Proof. by []. Qed.

Fact verify_is (q : seq T -> T -> R) : [/\ verify q lead Matching = @matching_program T R (site T),
  verify q lead Recursive = (fun r => recursive_program (claim_at q lead) r r) &
  verify q lead RheoVerification = rheo_program (claim_at q lead) (@drawn_at T lead)].
Proof. by []. Qed.

(** the token of a slot that was looked at, and the first slot that the loop looks at next *)
Fact look_is x0 (t : seq (site T * T)) s h : look x0 t s h =
  if [seq e <- t | e.1 == (s, h)] is e :: _ then e.2 else x0.
Proof. by []. Qed.

Fact unseen_is more (wt : seq T -> seq T -> T -> R) tie x0 t :
  unseen more wt tie branching frontier depth x0 t =
  ohead [seq k <- flatten [seq flatten [seq [seq (f.2, sib (look x0 t) f.2 i)
                                            | i <- iota 0 (nslots more branching (look x0 t) f.2)]
                                       | f <- front more wt tie branching frontier (look x0 t) d]
                          | d <- iota 0 depth]
        | k \notin [seq e.1 | e <- t]].
Proof. by []. Qed.

Fact grown_is more (wt : seq T -> seq T -> T -> R) tie x0 t :
  grown more wt tie branching frontier depth budget x0 t =
  [seq (ctx n, sibs n, tok n) | n <- build more wt tie branching frontier depth budget (look x0 t)].
Proof. by []. Qed.

Fact grow_is (q : seq T -> T -> R) x0 n t : grow q lead branching frontier depth x0 n.+1 t =
  if unseen (more q) (rheo_weight q lead) (fun _ => 0%N) branching frontier depth x0 t is Some k then
    bind (choose (law q lead k.1 k.2)) (fun x => grow q lead branching frontier depth x0 n (rcons t (k, x)))
  else ret R t.
Proof. by []. Qed.

(** a program that ran out of steps has no outcome *)
Fact grow_end (q : seq T -> T -> R) x0 t : grow q lead branching frontier depth x0 0 t =
  if unseen (more q) (rheo_weight q lead) (fun _ => 0%N) branching frontier depth x0 t is Some _ then [::] else ret R t.
Proof. by []. Qed.

Fact plain_is (p : seq T -> T -> R) n c : plain p n.+1 c =
  bind (choose (p c)) (fun y => bind (plain p n (rcons c y)) (fun w => ret R (y :: w))).
Proof. by []. Qed.

Fact plain_end (p : seq T -> T -> R) c : plain p 0 c = ret R [::].
Proof. by []. Qed.

Fact walk_is (K : eqType) (at_ : K -> seq T) program (p : seq T -> T -> R) t n c : walk at_ program p t n.+1 c =
  bind (program (p c) [seq e <- t | at_ e.1 == c]) (fun step : T * bool => let: (y, descend) := step in
    bind (if descend then walk at_ program p t n (rcons c y) else plain p n (rcons c y)) (fun w => ret R (y :: w))).
Proof. by []. Qed.

Fact walk_end (K : eqType) (at_ : K -> seq T) program (p : seq T -> T -> R) t c :
  walk at_ program p t 0 c = ret R [::].
Proof. by []. Qed.

Fact block_program_is (q p : seq T -> T -> R) v x0 :
  block_program q p lead branching frontier depth budget v x0 =
  bind (grow q lead branching frontier depth x0 #|{: place T branching depth}| [::])
    (fun t => block fst (verify q lead v) p
                (grown (more q) (rheo_weight q lead) (fun _ => 0%N) branching frontier depth budget x0 t) depth [::]).
Proof. by []. Qed.

Fact cycle_program_is (q p : seq T -> T -> R) v x0 n :
  cycle_program q p lead branching frontier depth budget v x0 n =
  bind (grow q lead branching frontier depth x0 #|{: place T branching depth}| [::])
    (fun t => walk fst (verify q lead v) p
                (grown (more q) (rheo_weight q lead) (fun _ => 0%N) branching frontier depth budget x0 t) n [::]).
Proof. by []. Qed.
End Programs.

(** * Blocks *)

Section Blocks.
Variables (T : finType) (R : realFieldType) (K : eqType) (ctx : K -> seq T).
Variables (rule : (T -> R) -> seq (K * T) -> T -> R) (program : (T -> R) -> seq (K * T) -> dist R (T * bool)).
Variable p : seq T -> T -> R.
Local Notation kids_at t c := [seq e <- t | ctx e.1 == c].
Local Notation child t c y := (y \in [seq e.2 | e <- kids_at t c]).

Fact carries_out_is (h : seq (K * T)) : carries_out program rule h =
  (forall p g, is_law p -> mean (program p h) g = \sum_y rule p h y * g (y, y \in [seq e.2 | e <- h])).
Proof. by []. Qed.

Fact block_is t n c : block ctx program p t n.+1 c =
  bind (program (p c) (kids_at t c)) (fun s : T * bool => let: (y, descend) := s in
    if descend then bind (block ctx program p t n (rcons c y)) (fun w => ret R (y :: w)) else ret R [:: y]).
Proof. by []. Qed.

Fact block_law_one t c y : block_law ctx rule p t c [:: y] = rule (p c) (kids_at t c) y * (~~ child t c y)%:R.
Proof. by []. Qed.

Fact block_law_more t c y z w : block_law ctx rule p t c (y :: z :: w) =
  rule (p c) (kids_at t c) y * (child t c y)%:R * block_law ctx rule p t (rcons c y) (z :: w).
Proof. by []. Qed.

Fact pass_is t c y w : pass ctx rule p t c (y :: w) =
  rule (p c) (kids_at t c) y * (child t c y)%:R * pass ctx rule p t (rcons c y) w.
Proof. by []. Qed.

Fact longer_is t d c : longer ctx rule p t d.+1 c =
  \sum_y rule (p c) (kids_at t c) y * (child t c y)%:R * longer ctx rule p t d (rcons c y).
Proof. by []. Qed.

(** the empty word is no block; a walk passes through it; every block has more than 0 tokens *)
Fact block_ends t c : [/\ block_law ctx rule p t c [::] = 0, pass ctx rule p t c [::] = 1 &
  longer ctx rule p t 0 c = 1].
Proof. by []. Qed.
End Blocks.
