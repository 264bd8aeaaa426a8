(** What the ranking loop looks at.

    The loop asks for the token of every slot of every node that it expands, and for nothing else ([queries]). So the
    tree is a function of those tokens ([build_local]), a builder may draw each of them when it first looks, and trees
    can be computed although there are astronomically many draws of all places. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import ranking pool kept.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Queries.
Variables (T : eqType) (R : realFieldType).
Variables (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R) (tie : T -> nat).
Variables (branching frontier depth budget : nat).
Implicit Types (Y : seq T -> seq T -> T) (s h : seq T).
Local Notation p0 := (p0 T R).
Local Notation nslots := (nslots more branching).
Local Notation expand := (expand more wt branching).
Local Notation front := (front more wt tie branching frontier).
Local Notation build := (build more wt tie branching frontier depth budget).

(** the slots that layer d looks at, and all of them: (context, tokens of the elder siblings) *)
Definition asked Y d := flatten [seq [seq (f.2, sib Y f.2 i) | i <- iota 0 (nslots Y f.2)] | f <- front Y d].
Definition queries Y := flatten [seq asked Y d | d <- iota 0 depth].

Section Local.
Variables Y Y' : seq T -> seq T -> T.

Definition same_at s := forall i, (i < nslots Y s)%N -> Y' s (sib Y s i) = Y s (sib Y s i).

Lemma sib_local s : same_at s -> forall i, (i <= nslots Y s)%N -> sib Y' s i = sib Y s i.
Proof. by move=> sa; elim=> //= i IH lt; rewrite IH ?(ltnW lt) // sa. Qed.

Lemma nslots_local s : same_at s -> nslots Y' s = nslots Y s.
Proof.
move=> sa; have same i : (i <= nslots Y s)%N -> (i < nslots Y' s)%N = (i < nslots Y s)%N.
  move=> le; rewrite !nslotsP; congr (_ && _); apply/eq_in_all => j; rewrite mem_iota add0n ltnS /= => ji.
  by rewrite sib_local // (leq_trans ji).
apply/eqP; rewrite eqn_leq leqNgt same // ltnn /= leqNgt; apply/negP => lt.
by have := same _ (ltnW lt); rewrite ltnn lt.
Qed.

Lemma expand_local d P : (forall f, f \in P -> same_at f.2) -> expand Y' d P = expand Y d P.
Proof.
move=> sa; congr flatten; apply/eq_in_map => k; rewrite mem_iota /= add0n => kP.
have sf := sa _ (mem_nth p0 kP); rewrite (nslots_local sf); apply/eq_in_map => i; rewrite mem_iota add0n => /= lt.
by rewrite /place sib_local ?(ltnW lt) // sf.
Qed.

Hypothesis agree : forall k, k \in queries Y -> Y' k.1 k.2 = Y k.1 k.2.

Lemma agree_at d f : (d < depth)%N -> f \in front Y d -> same_at f.2.
Proof.
move=> dd ff i lt; apply: (agree (k := (f.2, sib Y f.2 i))); apply/flattenP; exists (asked Y d).
  by apply: map_f; rewrite mem_iota.
apply/flattenP; exists [seq (f.2, sib Y f.2 i) | i <- iota 0 (nslots Y f.2)]; first exact: map_f.
by apply: (map_f (fun i => (f.2, sib Y f.2 i))); rewrite mem_iota.
Qed.

Lemma front_local d : (d <= depth)%N -> front Y' d = front Y d.
Proof. by elim: d => //= d IH lt; rewrite IH ?(ltnW lt) // expand_local // => f; apply: agree_at. Qed.

(** the tree is a function of the tokens that were asked for *)
Theorem build_local : build Y' = build Y.
Proof.
rewrite /ranking.build /ranked; do 2 congr (_ _ _); congr flatten; apply/eq_in_map => d;
  rewrite mem_iota add0n => /= dd.
by rewrite /cands front_local ?(ltnW dd) // expand_local // => f; apply: agree_at.
Qed.
End Local.

Lemma query_bounds Y k : k \in queries Y -> (size k.1 < depth)%N /\ (size k.2 < branching)%N.
Proof.
case/flattenP => l /mapP[d]; rewrite mem_iota add0n => /= dd ->.
case/flattenP => l' /mapP[f ff ->] /mapP[i]; rewrite mem_iota add0n => /= lt -> /=.
by rewrite size_sib (front_size ff); split=> //; move: lt; rewrite nslotsP => /andP[].
Qed.
End Queries.

(** rules that agree point by point build the same trees *)
Section Congruence.
Variables (T : eqType) (R : realFieldType).
Variables (more more' : seq T -> seq T -> bool) (wt wt' : seq T -> seq T -> T -> R) (tie : T -> nat).
Hypotheses (same_more : forall s h, more s h = more' s h) (same_wt : forall s h x, wt s h x = wt' s h x).
Variables (branching frontier depth budget : nat) (Y : seq T -> seq T -> T).

Lemma nslots_congr s : nslots more branching Y s = nslots more' branching Y s.
Proof. by apply: eq_find => i; rewrite same_more. Qed.

Lemma expand_congr d P : expand more wt branching Y d P = expand more' wt' branching Y d P.
Proof.
congr flatten; apply: eq_map => k; rewrite nslots_congr; apply: eq_map => i.
by rewrite /place same_wt.
Qed.

Lemma front_congr d : front more wt tie branching frontier Y d = front more' wt' tie branching frontier Y d.
Proof. by elim: d => //= d ->; rewrite expand_congr. Qed.

Lemma build_congr : build more wt tie branching frontier depth budget Y =
  build more' wt' tie branching frontier depth budget Y.
Proof.
rewrite /build /ranked; do 2 congr (_ _ _); congr flatten; apply: eq_map => d.
by rewrite /cands front_congr expand_congr.
Qed.

Lemma queries_congr : queries more wt tie branching frontier depth Y = queries more' wt' tie branching frontier depth Y.
Proof.
congr flatten; apply: eq_map => d; rewrite /asked front_congr; congr flatten; apply: eq_map => f.
by rewrite nslots_congr.
Qed.
End Congruence.
