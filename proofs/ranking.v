(** The ranking loop that every dynamic tree shares: rheocheck.core.ranking, as EAGLE-2 writes it.

    score(root) = 1,  score(child) = score(parent) * rank weight;  the nodes of a layer are the children of the
    [frontier] best nodes of the layer before;  of all layers together the [budget] best are kept. The order is
    strict: higher score first, then layer, tie, parent's rank in its layer, slot. [tie] is 0 unless a faulty rule
    looks at the token; it exists so that the negative theorems speak of this very definition.

    A rule is given by [more] (is there one more slot, after these elder siblings?) and [wt] (its rank weight). The
    tokens come from Y: [Y s h] is what is drawn in the slot at context s whose elder siblings hold the tokens h. A
    fixed token is drawn too, from a point mass. Layers and slots count from 0 here, from 1 in the code. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Rank.
Variables (T : eqType) (R : realFieldType).
(** at the context s, after the elder siblings h: is there one more slot, and what does the token x weigh in it? *)
Variables (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R) (tie : T -> nat).
Variables (branching frontier depth budget : nat).
Implicit Types (Y : seq T -> seq T -> T) (s h : seq T).

Record node := Node { score : R; layer : nat; prank : nat; slot : nat; ctx : seq T; sibs : seq T; tok : T }.
Definition node_tuple n := (score n, layer n, prank n, slot n, ctx n, sibs n, tok n).
Definition tuple_node t := let: (a, b, c, d, e, f, g) := t in Node a b c d e f g.
Lemma node_tupleK : cancel node_tuple tuple_node. Proof. by case. Qed.
Definition node_eqMixin := CanEqMixin node_tupleK.
Canonical node_eqType := EqType node node_eqMixin.

Definition path n := rcons (ctx n) (tok n).
(** higher score first ([R^d] is R upside down), then layer, tie, parent's rank in its layer, slot *)
Definition rank n : (R^d *l (nat *l (nat *l (nat *l nat))))%type :=
  (score n, (layer n, (tie (tok n), (prank n, slot n)))).
Definition before : rel node := fun a b => (rank a <= rank b)%O.

(** the tokens of the first i slots at s, and how many slots there are *)
Fixpoint sib Y s i := if i is j.+1 then rcons (sib Y s j) (Y s (sib Y s j)) else [::].
Definition nslots Y s := find (fun i => ~~ more s (sib Y s i)) (iota 0 branching).
(** A parent is a score and a path; [p0] fills gaps that do not occur. The node in slot i of the parent f, the k-th in
    the frontier of layer d: *)
Definition p0 : R * seq T := (0, [::]).
Definition place Y (f : R * seq T) d k i :=
  let s := f.2 in let h := sib Y s i in Node (f.1 * wt s h (Y s h)) d k i s h (Y s h).
Definition expand Y d (P : seq (R * seq T)) :=
  [seq place Y (nth p0 P k) d k i | k <- iota 0 (size P), i <- iota 0 (nslots Y (nth p0 P k).2)].
(** the frontier of layer d: scores and paths of the nodes that get children *)
Fixpoint front Y d :=
  if d is d'.+1 then [seq (score n, path n) | n <- take frontier (sort before (expand Y d' (front Y d')))]
  else [:: (1, [::])].
(** the nodes of layer d, all nodes, and all nodes best first *)
Definition cands Y d := expand Y d (front Y d).
Definition pool Y := flatten [seq cands Y d | d <- iota 0 depth].
Definition ranked Y := sort before (pool Y).
(** the tree: the best of all *)
Definition build Y := take budget (ranked Y).

(** what of a node matters to a verifier: where it hangs, after which siblings, and its token *)
Definition entry (n : node) := (ctx n, sibs n, tok n).
Definition place_of (n : node) := (ctx n, sibs n).
(** the nodes of layer d that get children *)
Definition frontier_at Y d := take frontier (sort before (cands Y d)).

(** WHAT LOSSLESSNESS ASKS OF THE WEIGHTS, beside blindness: they lie in [0, 1], they do not increase along the slots of
    a node, and a node's tokens are distinct. *)
Definition steep Y := forall s i, (i < nslots Y s)%N ->
  let w j := wt s (sib Y s j) (Y s (sib Y s j)) in
  [/\ 0 <= w i <= 1, (forall j, (j < i)%N -> w i <= w j) & Y s (sib Y s i) \notin sib Y s i].

End Rank.
