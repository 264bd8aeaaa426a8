(** One draft token against one law (Leviathan, Kalman and Matias 2023; Chen et al. 2023).

    A token x is said to come from the law l. Against the target r it is accepted with probability min(1, r(x)/l(x));
    if it is not, another token is drawn from the residual, norm((r - l)+). The theorem of this file, and the only
    arithmetic of the whole development, is that the token so emitted has the law r exactly:

        attempt_exact :  sum_x l(x) * attempt r l x (residual p r l) y  =  r(y)

    No positivity is needed: l(x) = 0 divides by zero, and x is then never drawn. When the residual has no mass, a
    rejection has probability zero; [p] stands in for it so that every rule below is a law. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Attempt.
Variables (T : finType) (R : realFieldType).
Implicit Types (p q r l : T -> R) (x y : T).

Definition accept r l x : R := Num.min 1 (r x / l x).
Definition gap r l : R := \sum_x Num.max 0 (r x - l x).
(** what a rejection leaves; [p] is the fallback when nothing is left, an event of probability zero *)
Definition residual p r l : T -> R :=
  fun y => if gap r l == 0 then p y else Num.max 0 (r y - l y) / gap r l.
(** one draft [x], claimed to come from [l], against the law [r]; then the continuation [k] on rejection *)
Definition attempt r l x (k : T -> R) : T -> R :=
  fun y => accept r l x * (y == x)%:R + (1 - accept r l x) * k y.

Lemma mul_accept r l x : 0 <= r x -> 0 <= l x -> l x * accept r l x = Num.min (l x) (r x).
Proof.
move=> r0 l0; have [->|ln0] := eqVneq (l x) 0; first by rewrite mul0r min_l.
have lgt : 0 < l x by rewrite lt_def ln0.
by rewrite /accept minr_pmulr ?(ltW lgt) // mulr1 mulrCA mulfV // mulr1.
Qed.

Lemma min_max r l x : Num.min (l x) (r x) + Num.max 0 (r x - l x) = r x.
Proof.
case: (leP (l x) (r x)) => h; first by rewrite max_r ?subr_ge0 // addrCA subrr addr0.
by rewrite max_l ?addr0 // subr_le0 ltW.
Qed.

Lemma gap_ge0 r l : 0 <= gap r l.
Proof. by apply: sumr_ge0 => x _; rewrite le_maxr lexx. Qed.

Lemma residual_law p r l : is_law p -> is_law (residual p r l).
Proof.
case=> p0 p1; rewrite /residual; have [//|g0] := eqVneq (gap r l) 0.
split=> [y|]; first by rewrite divr_ge0 ?gap_ge0 // le_maxr lexx.
by rewrite -mulr_suml mulfV.
Qed.

Lemma overlap r l : is_law r -> is_law l -> \sum_x l x * (1 - accept r l x) = gap r l.
Proof.
move=> [r0 r1] [l0 l1]; rewrite (eq_bigr (fun x => l x - Num.min (l x) (r x))); last first.
  by move=> x _; rewrite mulrBr mulr1 mul_accept.
rewrite sumrB l1 -r1 -sumrB; apply: eq_bigr => x _.
by rewrite -{1}(min_max r l x) addrAC subrr add0r.
Qed.

Lemma accept_ge0 r l x : 0 <= r x -> 0 <= l x -> 0 <= accept r l x.
Proof. by move=> r0 l0; rewrite le_minr ler01 divr_ge0. Qed.
Lemma accept_le1 r l x : accept r l x <= 1.
Proof. by rewrite le_minl lexx. Qed.

(** Leviathan: the single-draft rule emits exactly [r] *)
Theorem attempt_exact p r l y : is_law r -> is_law l ->
  \sum_x l x * attempt r l x (residual p r l) y = r y.
Proof.
move=> rl ll; have [r0 _] := rl; have [l0 _] := ll.
under eq_bigr do rewrite mulrDr !mulrA.
rewrite big_split /= (eq_bigr (fun x => Num.min (l x) (r x) * (y == x)%:R)); last first.
  by move=> x _; rewrite mul_accept.
rewrite (sum_point (fun x => Num.min (l x) (r x))) -mulr_suml overlap //.
rewrite -{2}(min_max r l y); congr (_ + _); rewrite /residual; case: eqP => [g0|/eqP g0].
  rewrite g0 mul0r; have /psumr_eq0P -> // : gap r l = 0 by [].
  by move=> x _; rewrite le_maxr lexx.
by rewrite mulrC divfK.
Qed.

(** if the claims are one-hot, the single-draft rule is matching *)
Lemma attempt_point p r x y : is_law r -> attempt r (point R x) x (residual p r (point R x)) y = r y.
Proof.
move=> rl; rewrite -[RHS](attempt_exact p y rl (point_law R x)).
by rewrite (bigD1 x) //= /point eqxx mul1r big1 ?addr0 // => z /negbTE ->; rewrite mul0r.
Qed.

Lemma attempt_law r l x k : is_law r -> is_law l -> is_law k -> is_law (attempt r l x k).
Proof.
move=> [r0 r1] [l0 l1] [k0 k1]; split=> [y|].
  by rewrite addr_ge0 // mulr_ge0 ?ler0n ?accept_ge0 ?subr_ge0 ?accept_le1.
by rewrite big_split /= -!mulr_sumr (proj2 (point_law R x)) k1 !mulr1 addrC subrK.
Qed.

End Attempt.
