(** RheoVerification attains the best acceptance there is, at a node without fills.

    At a node that kept its leads h, whose tokens are not drawn, and a probe x drawn from l, which gives no lead any
    mass, a verifier is a kernel V: V x y is the chance to emit y when the probe is x. It must emit p on average over
    the probe. It accepts when y is kept: a lead, or x. Every such kernel accepts with probability at most

        p(leads) + sum over x of min(p(x), l(x)),

    the optimal-transport bound ([transport_bound]), and [rheo] accepts with exactly that ([rheo_attains]). *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers one_hot.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Transport.
Variables (T : finType) (R : realFieldType).
Implicit Types (p l : T -> R) (leads : seq T) (V : T -> T -> R) (x y : T).

(** the chance to descend: the emitted token is a lead or the probe *)
Definition acceptance l leads V : R := \sum_x l x * \sum_(y | (y \in leads) || (y == x)) V x y.
Definition transport_value p l leads : R := \sum_(y | y \in leads) p y + \sum_x Num.min (l x) (p x).

Lemma acceptance_split l leads V : (forall x, x \in leads -> l x = 0) ->
  acceptance l leads V = \sum_(y | y \in leads) \sum_x l x * V x y + \sum_x l x * V x x.
Proof.
move=> off; rewrite exchange_big -big_split /=; apply: eq_bigr => x _.
have [xl|xl] := boolP (x \in leads); first by rewrite off // !mul0r addr0 big1 // => y _; rewrite mul0r.
rewrite -mulr_sumr -mulrDr; congr (_ * _); rewrite (bigID (fun y => y \in leads)) /=; congr (_ + _).
  by apply: eq_bigl => y; case: (y \in leads); rewrite ?andbF /= ?andbT.
rewrite (big_pred1 x) // => y /=; have [->|_] := eqVneq y x; first by rewrite orbT xl.
by case: (y \in leads).
Qed.

Theorem transport_bound p l leads V : is_law l -> (forall x, is_law (V x)) ->
  (forall x, x \in leads -> l x = 0) -> (forall y, \sum_x l x * V x y = p y) ->
  acceptance l leads V <= transport_value p l leads.
Proof.
move=> [l0 _] Vl off ex; rewrite acceptance_split // /transport_value.
rewrite (eq_bigr p) => [|y _]; last exact: ex.
rewrite ler_add2l; apply: ler_sum => x _; have [V0 V1] := Vl x; rewrite le_minr; apply/andP; split.
  by rewrite ler_pimulr // -V1 (bigD1 x) //= ler_addl; apply: sumr_ge0.
rewrite -(ex x) (bigD1 x) //= ler_addl; apply: sumr_ge0 => z _; rewrite mulr_ge0 //.
by have [] := Vl z.
Qed.

Lemma attempt_self p l x : is_law p -> is_law l -> l x * attempt p l x (residual p p l) x = Num.min (l x) (p x).
Proof.
move=> pl ll; have [p0 _] := pl; have [l0 _] := ll.
have [lx|lx] := eqVneq (l x) 0; first by rewrite lx mul0r min_l.
rewrite /attempt eqxx mulr1 mulrDr mul_accept //; have [g|g] := eqVneq (gap p l) 0.
  by rewrite (accept1 pl ll g lx) subrr mul0r mulr0 addr0.
have lx0 : 0 < l x by rewrite lt_def lx l0.
rewrite /residual (negbTE g); have [le|lt] := leP (l x) (p x).
  by rewrite /accept min_l ?subrr ?mul0r ?mulr0 ?addr0 // ler_pdivl_mulr // mul1r.
by rewrite max_l ?mul0r ?mulr0 ?addr0 // subr_le0 ltW.
Qed.

Variables (C : Type) (claim : C -> T -> R) (sampled : C -> bool).
Hypothesis claim_law : forall c, is_law (claim c).

Lemma rheo_probe p (h : seq (C * T)) c x : all (fun e => ~~ sampled e.1) h -> sampled c ->
  rheo claim sampled p (rcons h (c, x)) = attempt p (claim c) x (residual p p (claim c)).
Proof.
move=> no yes; rewrite /rheo filter_rcons /= yes.
have -> : [seq e <- h | sampled e.1] = [::].
  by apply/nilP; rewrite /nilp size_filter -leqn0 leqNgt -has_count -all_predC.
by [].
Qed.

(** the verifier of the code, on the kept children h and the probe *)
Theorem rheo_attains p (h : seq (C * T)) c : is_law p ->
  all (fun e => ~~ sampled e.1) h -> sampled c -> (forall x, x \in [seq e.2 | e <- h] -> claim c x = 0) ->
  acceptance (claim c) [seq e.2 | e <- h] (fun x => rheo claim sampled p (rcons h (c, x)))
  = transport_value p (claim c) [seq e.2 | e <- h].
Proof.
move=> pl no yes off; rewrite acceptance_split // /transport_value; congr (_ + _).
  by apply: eq_bigr => y _; under eq_bigr do rewrite rheo_probe //; exact: attempt_exact.
by apply: eq_bigr => x _; rewrite rheo_probe // attempt_self.
Qed.
End Transport.
