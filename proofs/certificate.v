(** The certificate: honesty is needed at the slots of a context only, in the order in which they survive.

    The theorem for all honest verifiers asks the verifier to be honest after every list of children. A verifier that
    is exact for one builder may be nothing of the kind. But survivors of a node are a prefix of its slots, so it is
    enough to look at each context by itself, at the slots it has there, one after the other:

        sum_x law(x) * rule p (held, x) y  =  rule p held y        held: the slots before, with what they hold

    For a fixed slot the sum has one term: one more lead leaves p as it is. For the probe it is p on average. For a
    fill it says that the law given the probe's token does not change. These are the checks of
    rheocheck.exact.certificate for a rule whose slots stand in the order of their weights; they do not depend on
    depth, frontier or budget. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers walk draws predictable.
From rheocheck Require Import ranking pool precedence rank_invariance kept slots dynamic.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Predictable builders, honest along their own trees *)
Section Predictable.
Variables (T : finType) (R : realFieldType) (K : finType) (claim : K -> T -> R).
Hypothesis claim_law : forall k, is_law (claim k).
Implicit Types (Y : {ffun K -> T}) (t : seq (K * T)).
Variables (kept : {ffun K -> T} -> seq K) (N : nat).
Hypothesis pred : predictable claim kept.
Hypothesis kept_uniq : forall Y, possible claim Y -> uniq (kept Y).
Hypothesis kept_size : forall Y, (size (kept Y) <= N)%N.
Variables (ctx : K -> seq T) (rule : (T -> R) -> seq (K * T) -> T -> R) (p : seq T -> T -> R).
Hypothesis rule_start : forall c y, rule (p c) [::] y = p c y.
Hypothesis kept_closed : forall Y, possible claim Y -> closed ctx (tree kept Y).
Local Notation tree := (tree kept).
Local Notation possible := (possible claim).
Local Notation next := (next claim kept).

Hypothesis honest_there : forall Y i k y, possible Y -> ohead (drop i (kept Y)) = Some k ->
  let t := kids ctx (take i (tree Y)) (ctx k) in
  \sum_x claim k x * rule (p (ctx k)) (rcons t (k, x)) y = rule (p (ctx k)) t y.

Lemma take_tree Y i : take i.+1 (tree Y) =
  if ohead (drop i (kept Y)) is Some k then rcons (take i (tree Y)) (k, Y k) else take i (tree Y).
Proof.
case kd: (drop i (kept Y)) => [|k l] /=.
  have : (size (tree Y) <= i)%N by rewrite size_map -subn_eq0 -size_drop kd.
  by move=> le; rewrite !take_oversize // (leq_trans le).
have isz : (i < size (kept Y))%N by rewrite -subn_gt0 -size_drop kd.
rewrite (take_nth (k, Y k)) ?size_map // (nth_map k) //; congr (rcons _ (_, Y _));
  by rewrite -[i]addn0 -nth_drop kd.
Qed.

(** a list of draws that some possible draw begins with *)
Definition reached t := exists2 Y, possible Y & take (size t) (tree Y) = t.

Lemma nextP t k : next t = Some k -> exists Y, [/\ possible Y, take (size t) (tree Y) = t &
  ohead (drop (size t) (kept Y)) = Some k].
Proof. by rewrite /predictable.next; case: pickP => [Y /andP[py /eqP tY]|//] kY; exists Y. Qed.

Lemma reached_step t k x : next t = Some k -> claim k x != 0 -> reached (rcons t (k, x)).
Proof.
move=> nk kx; have [Y [py tY kY]] := nextP nk; have kt := next_fresh kept_uniq nk.
pose Y' := [ffun j => if j == k then x else Y j].
have py' : possible Y'.
  apply/prodf_neq0 => j _; rewrite ffunE; have [->|_] := eqVneq j k; first exact: kx.
  by have /prodf_neq0/(_ j isT) := py.
have same i : (i <= size t)%N -> take i (tree Y') = take i (tree Y).
  elim: i => [|i IH] it; first by rewrite !take0.
  have e := IH (ltnW it); rewrite !take_tree (pred py' py e) e; case d: (drop i (kept Y)) => [|j l] //=.
  rewrite ffunE; case: eqP => // jk; case/negP: kt; rewrite -jk -tY.
  have : (j, Y j) \in take i.+1 (tree Y) by rewrite take_tree d mem_rcons mem_head.
  move=> jt; apply/mapP; exists (j, Y j) => //.
  by rewrite -(subnKC it) takeD mem_cat jt.
exists Y' => //; rewrite size_rcons take_tree (pred py' py (same _ (leqnn _))) kY same // tY ffunE eqxx.
by [].
Qed.

Lemma lazy_local n t c w : reached t -> lazy claim next n t (fun t => spell ctx rule p t c w) = spell ctx rule p t c w.
Proof.
elim: n t => [//|n IH] t rt /=; case nt: (next t) => [k|//].
have [Y [py tY kY]] := nextP nt.
rewrite -(@spell_step _ _ _ ctx claim rule p claim_law t k) => [|y]; last first.
  by have := honest_there y py kY; rewrite tY.
apply: eq_bigr => x _; have [->|kx] := eqVneq (claim k x) 0; first by rewrite !mul0r.
by rewrite IH //; apply: reached_step.
Qed.

Theorem predictable_lossless_there w : \sum_Y weight claim Y * emit ctx rule p (target p) (tree Y) [::] w =
  target p [::] w.
Proof.
have start : reached [::].
  have [Y py|none] := pickP [pred Y | possible Y]; first by exists Y; rewrite ?take0.
  have := agree_weight claim_law (isT : uniq (keys ([::] : seq (K * T)))); rewrite big_nil big1 => [/eqP|Y _].
    by rewrite eq_sym oner_eq0.
  by have /negbFE/eqP -> := none Y; rewrite mul0r.
transitivity (\sum_Y weight claim Y * spell ctx rule p (tree Y) [::] w).
  apply: eq_bigr => Y _; have [-> |nz] := eqVneq (weight claim Y) 0; first by rewrite !mul0r.
  by rewrite (emit_spell rule_start) //; apply: kept_closed.
rewrite (predictable_lazy claim_law pred kept_uniq kept_size (fun t => spell ctx rule p t [::] w)) lazy_local //.
exact: spell_out.
Qed.
End Predictable.

(** ** Dynamic trees *)
Section Dynamic.
Variables (T : finType) (R : realFieldType).
Variables (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R) (tie : T -> nat).
Variables (branching frontier depth budget : nat) (law : seq T -> seq T -> T -> R).
Local Notation place := (place T branching depth).
Local Notation place_at := (@place_at T branching depth).
Local Notation kept := (@kept T R more wt tie branching frontier depth budget law).
Local Notation draws := (@draws T R branching depth law).
Variables (rule : (T -> R) -> seq (place * T) -> T -> R) (p : seq T -> T -> R).
Hypothesis law_ok : forall s h, is_law (law s h).
Hypothesis tie_blind : forall x y, tie x = tie y.
Hypothesis wt_blind : forall s h x y, wt s h x = wt s h y.
Hypothesis steep_possible : forall Z, (forall s h, law s h (Z s h) != 0) -> steep more wt branching Z.
Hypothesis rule_start : forall c y, rule (p c) [::] y = p c y.

(** the first i slots of the context s, and what they hold *)
Definition held (Z : seq T -> seq T -> T) s i : seq (place * T) :=
  [seq (place_at s (sib Z s j), Z s (sib Z s j)) | j <- iota 0 i].

(** an honest verifier passes the check, at a context that the tree can reach and for one more slot *)
Lemma honest_certified Z s i y : (forall c, is_law (p c)) -> honest (@claim T R branching depth law) rule ->
  (size s < depth)%N -> (i < nslots more branching Z s)%N ->
  \sum_x law s (sib Z s i) x * rule (p s) (rcons (held Z s i) (place_at s (sib Z s i), x)) y
  = rule (p s) (held Z s i) y.
Proof.
move=> pl ho sd; rewrite nslotsP => /andP[ib _].
rewrite -[RHS](ho _ _ (place_at s (sib Z s i)) y (pl s)); apply: eq_bigr => x _.
by rewrite /claim /place_at /insub_bseq /= !insubdK // unfold_in ?size_sib ltnW.
Qed.

(** the check *)
Hypothesis slot_honest : forall Z s i y, (forall s h, law s h (Z s h) != 0) ->
  (size s < depth)%N -> (i < nslots more branching Z s)%N ->
  \sum_x law s (sib Z s i) x * rule (p s) (rcons (held Z s i) (place_at s (sib Z s i), x)) y
  = rule (p s) (held Z s i) y.

Theorem certificate_sound w :
  \sum_Y weight (@claim T R branching depth law) Y *
    emit (@context_of T branching depth) rule p (target p) (tree kept Y) [::] w = target p [::] w.
Proof.
have cl k : is_law (@claim T R branching depth law k) by apply: law_ok.
apply: (predictable_lossless_there (N := budget) cl); first exact: kept_predictable.
- by move=> Y; apply: kept_uniq.
- by move=> Y; apply: kept_size.
- exact: rule_start.
- by move=> Y; apply: kept_closed.
move=> Y i k y pY; have stY := steepY law_ok steep_possible pY.
set ns := nodes more wt tie frontier budget law Y.
have kE : kept Y = [seq place_at (ctx n) (sibs n) | n <- ns] by [].
case d: (drop i ns) => [|n l]; first by rewrite kE -map_drop d.
rewrite kE -map_drop d /= => -[<-].
have nb : n \in ns by apply: (mem_drop (n0 := i)); rewrite d mem_head.
have iN : (i < size ns)%N by rewrite -subn_gt0 -size_drop d.
have nE : nth n ns i = n by rewrite -[i]addn0 -nth_drop d.
have ib : (i < budget)%N by move: iN; rewrite size_take_min leq_min => /andP[].
have isz : (i < size (ranked more wt tie branching frontier depth (draws Y)))%N.
  by move: iN; rewrite size_take_min leq_min => /andP[].
have nR : nth n (ranked more wt tie branching frontier depth (draws Y)) i =
  n by rewrite -[RHS]nE /ns /nodes /build nth_take.
have [kf jn e] := n_place n isz; rewrite nR in kf jn e.
have [cc ss] := place_atK nb.
have cE : @context_of T branching depth (place_at (ctx n) (sibs n)) = ctx n by [].
have lE x : @claim T R branching depth law (place_at (ctx n) (sibs n)) x =
  law (ctx n) (sibs n) x by rewrite /claim cc ss.
set f := nth _ _ _ in jn e.
have cn : ctx n = f.2 by rewrite e.
have sn : sibs n = sib (draws Y) (ctx n) (slot n) by rewrite cn {1}e.
have -> : kids (@context_of T branching depth) (take i (tree kept Y)) (context_of (place_at (ctx n) (sibs n)))
    = held (draws Y) (ctx n) (slot n).
  rewrite cE.
  have -> : take i (tree kept Y) = [seq (place_at (ctx m) (sibs m), tok m) | m <- take i ns].
    rewrite map_take; congr (take i _); rewrite /tree kE -map_comp; apply/eq_in_map => m mY /=.
    have [sc [ld sz lb]] := build_bounds mY.
    by rewrite (build_tok mY) /draws sc sz (ltnW ld) (ltnW lb).
  rewrite /kids filter_map.
  have -> : [seq m <- take i ns | preim (fun m => (place_at (ctx m) (sibs m), tok m)) (fun e0 =>
    context_of e0.1 == ctx n) m]
      = [seq m <- take i ns | ctx m == ctx n].
    by apply: eq_in_filter => m /mem_take mY /=; have [cm _] := place_atK mY; rewrite /context_of cm.
  have -> : take i ns = take i (ranked more wt tie branching frontier depth (draws Y)).
    by rewrite /ns /nodes /build take_take // ltnW.
  have := kept_kids tie_blind stY n isz; rewrite nR => ->; rewrite -map_comp /held cn.
  by apply: eq_map.
rewrite cE; under eq_bigr do rewrite lE sn.
apply: slot_honest; first exact: draws_possible.
  by have [-> [lt _ _]] := build_bounds nb.
by rewrite cn.
Qed.
End Dynamic.
