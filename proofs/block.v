(** The block of one cycle: its law, its length, and the ceiling of one-hot drafts.

    The block is what a cycle emits by itself: the accepted path and one more token. Completed by the target it is
    what [emit] speaks of ([emit_block]). Its expected length is what speculation is for:

        expected_length :  E(length)  =  sum over d of P(the block has more than d tokens)
        one_hot_length  :  for a fixed tree, whose claims are all one-hot, under any verifier that is exact for it,
                           E(length)  =  1 + sum over the nodes of the target's chance of the path to the node

    The last line is a ceiling: with fixed drafts no cleverness of the verifier can add a thing, only the choice of
    nodes. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers one_hot walk sampling.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Block.
Variables (T : finType) (R : realFieldType) (K : eqType) (ctx : K -> seq T).
Variables (rule : (T -> R) -> seq (K * T) -> T -> R) (program : (T -> R) -> seq (K * T) -> dist R (T * bool)).
Variable p : seq T -> T -> R.
Hypothesis p_law : forall c, is_law (p c).
Implicit Types (t : seq (K * T)) (c w : seq T) (n d : nat) (y : T).

(** is y a kept child at c? *)
Definition child t c y : bool := y \in tokens (kids ctx t c).
Local Notation step t c y := (rule (p c) (kids ctx t c) y).

(** the chance that the block from c is exactly w, that it passes through w, and that it has more than d tokens *)
Fixpoint block_law t c w : R :=
  match w with
  | [::] => 0
  | [:: y] => step t c y * (~~ child t c y)%:R
  | y :: w' => step t c y * (child t c y)%:R * block_law t (rcons c y) w'
  end.
Fixpoint pass t c w : R := if w is y :: w' then step t c y * (child t c y)%:R * pass t (rcons c y) w' else 1.
Fixpoint longer t d c : R := if d is d'.+1 then \sum_y step t c y * (child t c y)%:R * longer t d' (rcons c y) else 1.

(** a text of n tokens: a block that ends within it, completed by the target, or a longer block *)
Theorem emit_block t c w : emit ctx rule p (target p) t c w
  = \sum_(i < size w) block_law t c (take i.+1 w) * target p (c ++ take i.+1 w) (drop i.+1 w) + pass t c w.
Proof.
elim: w c => [|y w IH] c; first by rewrite big_ord0 add0r.
rewrite [LHS]/= [pass _ _ _]/= big_ord_recl /= take0 drop0 cats1 -/(child t c y).
case: w IH => [|z w] IH.
  by rewrite big_ord0 addr0 /= !mulr1 -mulrDr; case: (child t c y); rewrite ?addr0 ?add0r mulr1.
case kid: (child t c y); last first.
  by rewrite mulr0 !mul0r big1 ?addr0 ?mulr1 // => i _; rewrite /bump leq0n add1n /= !mul0r.
rewrite mulr0 mul0r add0r mulr1 IH mulrDr mulr_sumr; congr (_ + _); apply: eq_bigr => i _.
by rewrite /bump leq0n add1n -cat_rcons mulrA /= ?mulr1.
Qed.

(** the same block as a program draws it, a tree of at most n layers below c *)
Fixpoint block t n c : dist R (seq T) :=
  bind (program (p c) (kids ctx t c)) (fun s : T * bool =>
    let: (y, descend) := s in
    if descend then if n is n'.+1 then bind (block t n' (rcons c y)) (fun w => ret R (y :: w)) else [::]
    else ret R [:: y]).

Section Program.
Variable t : seq (K * T).
Hypothesis carried_out : forall c, carries_out program rule (kids ctx t c).
Hypothesis rule_law : forall c, is_law (rule (p c) (kids ctx t c)).

Lemma mean_block n c g : mean (block t n c) g = \sum_y step t c y *
  (if child t c y then if n is n'.+1 then mean (block t n' (rcons c y)) (fun w => g (y :: w)) else 0 else g [:: y]).
Proof.
by case: n => [|n] /=; rewrite mean_bind (carried_out c _ (p_law c)); apply: eq_bigr => y _; rewrite -/(child t c y);
  case: (child t c y); rewrite ?mean_ret ?mean_bind; congr (_ * _); rewrite /mean ?big_nil //;
  apply: eq_bigr => e _; rewrite big_seq1 mul1r.
Qed.

Theorem program_block n c w : (size w <= n.+1)%N -> prob (block t n c) w = block_law t c w.
Proof.
elim: n c w => [|n IH] c [|y w] sw; rewrite /prob mean_block.
- by rewrite /= big1 // => y _; case: ifP => _; rewrite mulr0.
- case: w sw => // _; rewrite (bigD1 y) //= big1 => [|x /negbTE xy].
    by rewrite addr0; case: (child t c y); rewrite // eqxx.
  by case: ifP => _; rewrite ?mulr0 // eqseq_cons xy mulr0.
- rewrite /= big1 // => y _; case: ifP => _; last by rewrite mulr0.
  by rewrite [X in _ * X](_ : _ = 0) ?mulr0 // -[RHS](mean0 (block t n (rcons c y))); apply: eq_mean.
rewrite (bigD1 y) //= big1 ?addr0 => [|x /negbTE xy]; last first.
  case: ifP => _; rewrite ?eqseq_cons ?xy ?mulr0 //.
  rewrite [X in _ * X](_ : _ = 0) ?mulr0 // -[RHS](mean0 (block t n (rcons c x))); apply: eq_mean => v.
  by rewrite eqseq_cons xy.
have -> : mean (block t n (rcons c y)) (fun v => (y :: v == y :: w)%:R) = block_law t (rcons c y) w.
  by rewrite -IH //; apply: eq_mean => v; rewrite eqseq_cons eqxx.
case: w sw => [|z w] sw; rewrite ?eqxx; case: (child t c y); rewrite /= ?mulr1 ?mulr0 ?mul0r //.
by rewrite eqseq_cons andbF mulr0.
Qed.

(** no kept child n layers below c *)
Definition within n c := forall c', size c' = (size c + n)%N -> kids ctx t c' = [::].

Lemma within_step n c y : within n.+1 c -> within n (rcons c y).
Proof. by move=> wt c' sz; apply: wt; rewrite sz size_rcons addSnnS. Qed.

Lemma leaf c y : within 0 c -> child t c y = false.
Proof. by move=> wt; rewrite /child wt ?addn0. Qed.

Lemma block_total n c : within n c -> mean (block t n c) (fun _ => 1) = 1.
Proof.
elim: n c => [|n IH] c wt; rewrite mean_block; have [_ one] := rule_law c.
  by under eq_bigr do rewrite leaf // mulr1.
rewrite -[RHS]one; apply: eq_bigr => y _.
by rewrite (IH _ (@within_step _ _ y wt)) if_same mulr1.
Qed.

(** the expected length of a block is the sum of the chances that it is longer than 0, 1, 2, ... *)
Theorem expected_length n c : within n c -> mean (block t n c) (fun w => (size w)%:R) = \sum_(d < n.+1) longer t d c.
Proof.
elim: n c => [|n IH] c wt; rewrite mean_block; have [_ one] := rule_law c.
  by rewrite big_ord1; under eq_bigr do rewrite leaf // mulr1.
have -> : \sum_(d < n.+2) longer t d c
    = \sum_y (step t c y + step t c y * (child t c y)%:R * \sum_(d < n.+1) longer t d (rcons c y)).
  rewrite big_ord_recl big_split one; congr (_ + _); under [RHS]eq_bigr do rewrite mulr_sumr.
  by rewrite exchange_big; apply: eq_bigr => d _.
apply: eq_bigr => y _; rewrite -IH; last exact: within_step.
case: (child t c y); last by rewrite mulr0 mul0r addr0 mulr1.
rewrite mulr1 -{2}[step t c y]mulr1 -mulrDr; congr (_ * _).
rewrite -[X in _ = X + _](block_total (@within_step _ _ y wt)).
by rewrite /mean -big_split /=; apply: eq_bigr => e _; rewrite -mulrDr /= mulrS.
Qed.
End Program.

(** ** Fixed drafts *)
Section OneHot.
Variable t : seq (K * T).
Definition end_of (e : K * T) := rcons (ctx e.1) e.2.
Hypothesis t_closed : closed ctx t.
Hypothesis t_uniq : uniq (map end_of t).
Hypothesis exact : forall c y, rule (p c) (kids ctx t c) y = p c y.

Lemma inj_of_uniq (A B : eqType) (f : A -> B) (s : seq A) : uniq (map f s) -> {in s &, injective f}.
Proof.
elim: s => //= a s IH /andP[fa us] x y; rewrite !inE => /orP[/eqP->|xs] /orP[/eqP->|ys] e //.
- by case/negP: fa; rewrite e map_f.
- by case/negP: fa; rewrite -e map_f.
- exact: IH.
Qed.

Lemma child_sum c (f : T -> R) : \sum_y (child t c y)%:R * f y = \sum_(e <- t | ctx e.1 == c) f e.2.
Proof.
have uk : uniq (tokens (kids ctx t c)).
  rewrite map_inj_in_uniq ?filter_uniq ?(map_uniq t_uniq) // => a b.
  rewrite !mem_filter => /andP[/eqP ac at_] /andP[/eqP bc bt] ab.
  by apply: (inj_of_uniq t_uniq at_ bt); rewrite /end_of ac bc ab.
rewrite -[RHS]big_filter -/(kids ctx t c) -[RHS](big_map (fun e : K * T => e.2) xpredT f) -/(tokens _).
rewrite (big_uniq _ uk) [RHS]big_mkcond /=.
by apply: eq_bigr => y _; rewrite /child; case: (y \in _); rewrite ?mul1r ?mul0r.
Qed.

(** the nodes whose parent is d layers below c, and the chance of the path to each *)
Definition below c d (e : K * T) : bool := (size (ctx e.1) == size c + d)%N && (take (size c) (ctx e.1) == c).

Lemma belowP c d e : reflect (exists2 v, ctx e.1 = c ++ v & size v = d) (below c d e).
Proof.
apply: (iffP andP) => [[/eqP sz /eqP tk]|[v -> <-]]; last by rewrite size_cat take_size_cat.
by exists (drop (size c) (ctx e.1)); [rewrite -{1}tk cat_take_drop | rewrite size_drop sz addKn].
Qed.

Lemma longer_one_hot d c : longer t d.+1 c
  = \sum_(e <- t | below c d e) target p c (drop (size c) (end_of e)).
Proof.
elim: d c => [|d IH] c.
  rewrite /=; under eq_bigr do rewrite exact mulr1 mulrC.
  rewrite child_sum; apply: eq_big => [e|e /eqP ce].
    rewrite /below addn0; apply/eqP/andP => [->|[/eqP sz /eqP <-]]; first by rewrite take_size !eqxx.
    by rewrite take_oversize // sz.
  by rewrite /end_of ce -cats1 drop_size_cat //= mulr1.
have kept_child e y v : e \in t -> ctx e.1 = rcons c y ++ v -> child t c y.
  move=> et ce; apply: contraT => no; have := closed_stop t_closed no v.
  by move/eqP; rewrite -size_eq0 size_filter -leqn0 leqNgt -has_count => /hasPn/(_ e et); rewrite ce eqxx.
transitivity (\sum_y \sum_(e <- t) if below (rcons c y) d e
    then p c y * target p (rcons c y) (drop (size c).+1 (end_of e)) else 0).
  rewrite /=; apply: eq_bigr => y _; rewrite exact -/(longer t d.+1 _) IH mulr_sumr big_mkcond !big_seq.
  apply: eq_bigr => e et; case: ifP => // /belowP[v ce _].
  by rewrite (kept_child e y v) // mulr1 size_rcons.
rewrite exchange_big [RHS]big_mkcond /=; apply: eq_bigr => e _; case: belowP => [[[//|z v] ce [sv]]|no].
  rewrite (bigD1 z) //= big1 ?addr0 => [|y /negbTE yz].
    have -> : below (rcons c z) d e by apply/belowP; exists v; rewrite // ce cat_rcons.
    have dz s : drop (size c).+1 (c ++ z :: s) = s by rewrite -cat_rcons drop_size_cat ?size_rcons.
    by rewrite /end_of ce rcons_cat /= dz drop_size_cat.
  case: belowP => // -[v' ce' _]; move: ce'; rewrite ce cat_rcons => /eqP.
  by rewrite eqseq_cat // eqxx /= eqseq_cons eq_sym yz.
rewrite big1 // => y _; case: belowP => // -[v ce sv]; case: no; exists (y :: v); first by rewrite ce cat_rcons.
by rewrite /= sv.
Qed.

(** THE ONE-HOT CEILING *)
Theorem one_hot_length n : (forall e, e \in t -> size (ctx e.1) < n)%N ->
  \sum_(d < n.+1) longer t d [::] = 1 + \sum_(e <- t) target p [::] (end_of e).
Proof.
move=> small; rewrite big_ord_recl; congr (_ + _).
transitivity (\sum_(d < n) longer t d.+1 [::]); first by apply: eq_bigr.
rewrite (eq_bigr _ (fun (d : 'I_n) _ => longer_one_hot d [::])); under eq_bigr do rewrite big_mkcond.
rewrite exchange_big !big_seq; apply: eq_bigr => e et /=; have lt := small e et.
rewrite (bigD1 (Ordinal lt)) //= big1 ?addr0 => [|d]; first by rewrite /below add0n eqxx take0 drop0.
rewrite -val_eqE /below add0n eq_sym => /negbTE /= ->; by [].
Qed.
End OneHot.
End Block.
