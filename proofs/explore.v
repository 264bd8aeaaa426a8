(** Building a tree as a program does: each token is drawn when the ranking loop first looks at it.

    [explore] follows every way the draws may fall, one branch a token, and averages [f] over the trees so built. When
    no branch runs out of its n steps, which a computation can show, the result is the average over one draw of all
    places at once ([explore_exact]). No predictability is asked: it holds for wrong builders too. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws attempt verifiers walk draws predictable ranking pool kept dynamic queries.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** A slot by its context and the tokens of its elder siblings; what was drawn so far is a list of slots with tokens. *)
Notation site T := (seq T * seq T)%type.

Section Program.
Variables (T : eqType) (R : realFieldType).
Variables (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R) (tie : T -> nat).
Variables (branching frontier depth budget : nat).
Variables (law : seq T -> seq T -> T -> R) (vocab : seq T) (x0 : T).
Implicit Types (t : seq (site T * T)).

Definition look t (s h : seq T) : T := if [seq e <- t | e.1 == (s, h)] is e :: _ then e.2 else x0.
(** the first slot that the loop looks at and that was not drawn yet *)
Definition unseen t : option (site T) :=
  ohead [seq k <- queries more wt tie branching frontier depth (look t) | k \notin [seq e.1 | e <- t]].
(** the tree, when there is none *)
Definition grown t : seq (site T * T) :=
  [seq (ctx n, sibs n, tok n) | n <- build more wt tie branching frontier depth budget (look t)].

Definition total (f : T -> R) : R := foldr (fun x s => f x + s) 0 vocab.

Fixpoint explore n t (f : seq (site T * T) -> R) : R :=
  if unseen t is Some k then
    if n is n'.+1 then
      total (fun x => let l := law k.1 k.2 x in if l == 0 then 0 else l * explore n' (rcons t (k, x)) f)
    else 0
  else f (grown t).
End Program.

Section Exact.
Variables (T : finType) (R : realFieldType).
Variables (more : seq T -> seq T -> bool) (wt : seq T -> seq T -> T -> R) (tie : T -> nat).
Variables (branching frontier depth budget : nat).
Variables (law : seq T -> seq T -> T -> R) (x0 : T).
Hypothesis law_ok : forall s h, is_law (law s h).

Local Notation place := (place T branching depth).
Local Notation claim := (@claim T R branching depth law).
Local Notation place_at := (@place_at T branching depth).
Local Notation kept := (@kept T R more wt tie branching frontier depth budget law).
Local Notation draws := (@draws T R branching depth law).
Local Notation decode := (@decode T branching depth).
Local Notation look := (look x0).
Local Notation unseen := (unseen more wt tie branching frontier depth x0).
Local Notation grown := (grown more wt tie branching frontier depth budget x0).
Local Notation explore := (explore more wt tie branching frontier depth budget law (enum T) x0).

Lemma total_sum (f : T -> R) : total (enum T) f = \sum_x f x.
Proof. by rewrite /total -(foldr_map f +%R) -[RHS]big_enum /= unlock /= foldr_map. Qed.

Lemma placeK s h : (size s <= depth)%N -> (size h <= branching)%N -> decode (place_at s h, x0) = (s, h, x0).
Proof. by move=> ss sh; rewrite /dynamic.decode /place_at /insub_bseq /= !insubdK. Qed.

Definition next (t : seq (place * T)) : option place := omap (fun k => place_at k.1 k.2) (unseen (map decode t)).

Lemma unseenP t k : unseen t = Some k ->
  [/\ (size k.1 < depth)%N, (size k.2 < branching)%N & k \notin [seq e.1 | e <- t]].
Proof.
rewrite /explore.unseen; case e: [seq _ <- _ | _] => [|k' l] // [<-].
have : k' \in [seq k <- queries more wt tie branching frontier depth (look t) | k \notin [seq e.1 | e <- t]].
  by rewrite e mem_head.
by rewrite mem_filter => /andP[no /query_bounds[]].
Qed.

Lemma next_decode t k : unseen (map decode t) = Some k -> forall x, decode (place_at k.1 k.2, x) = (k, x).
Proof.
by case/unseenP => ks kh _ x; have := placeK (ltnW ks) (ltnW kh); rewrite /dynamic.decode /= => -[-> ->];
  case: k {ks kh}.
Qed.

Lemma next_claim t k x : unseen (map decode t) = Some k -> claim (place_at k.1 k.2) x = law k.1 k.2 x.
Proof. by case/unseenP => ks kh _; rewrite /dynamic.claim /place_at /insub_bseq /= !insubdK // unfold_in ltnW. Qed.

Lemma next_fresh t k : next t = Some k -> k \notin keys t.
Proof.
rewrite /next; case e: (unseen _) => [k'|] //= [<-]; have [_ _] := unseenP e; apply: contra.
case/mapP => -[k'' x] tk /= ek; apply/mapP; exists (decode (k'', x)); first exact: map_f.
by have := next_decode e x; rewrite ek => ->.
Qed.

(** a draw Y of all places, and the part of it that the loop looks at *)
Lemma run_agree n t Y : agree t Y -> agree (run next n t Y) Y.
Proof.
elim: n t => //= n IH t tY; case: (next t) => [k|//]; apply: IH.
by rewrite /agree all_rcons /= eqxx.
Qed.

Lemma grown_kept t Y : agree t Y -> unseen (map decode t) = None -> grown (map decode t) = map decode (tree kept Y).
Proof.
move=> tY done; set t' := map decode t in done *.
have same k : k \in queries more wt tie branching frontier depth (look t') -> draws Y k.1 k.2 = look t' k.1 k.2.
  move=> kq; have [ks kh] := query_bounds kq.
  have kt : k \in [seq e.1 | e <- t'].
    apply: contraT => kt; move: done; rewrite /explore.unseen.
    have : k \in [seq k <- queries more wt tie branching frontier depth (look t') | k \notin [seq e.1 | e <- t']].
      by rewrite mem_filter kt.
    by case: [seq _ <- _ | _].
  rewrite /draws (ltnW ks) (ltnW kh) /= /explore.look -surjective_pairing.
  case e: [seq e <- t' | e.1 == k] => [|e0 l].
    case/mapP: kt => e0 e0t ek; have : e0 \in [seq e <- t' | e.1 == k] by rewrite mem_filter -ek eqxx.
    by rewrite e.
  have : e0 \in [seq e <- t' | e.1 == k] by rewrite e mem_head.
  rewrite mem_filter => /andP[/eqP <- /mapP[[j x] jt ->]] /=.
  have /allP/(_ _ jt)/eqP /= <- := tY; congr (Y _); case: j jt => a b _ /=.
  by rewrite /place_at /insub_bseq !valKd.
rewrite /explore.grown -(build_local budget same) /tree -map_comp /kept -!map_comp.
apply/eq_in_map => n nY; have [cc ss] := place_atK nY; have [sc [ld sz lb]] := build_bounds nY.
by rewrite /= /dynamic.decode /= cc ss (build_tok nY) /draws sc sz (ltnW ld) (ltnW lb).
Qed.

Definition when_done (f : seq (site T * T) -> R) (t : seq (place * T)) : R :=
  if unseen (map decode t) is None then f (grown (map decode t)) else 0.

Lemma lazy_explore n t f : lazy claim next n t (when_done f) = explore n (map decode t) f.
Proof.
elim: n t => [|n IH] t /=; first by rewrite /when_done; case: (unseen _).
rewrite /next; case e: (unseen (map decode t)) => [k|] /=; last by rewrite /when_done e.
rewrite total_sum; apply: eq_bigr => x _; rewrite IH map_rcons (next_decode e) (next_claim _ e) /=.
by case: eqP => [->|//]; rewrite mul0r.
Qed.

Lemma eager_explore n f : \sum_Y weight claim Y * when_done f (run next n [::] Y) = explore n [::] f.
Proof.
have cl : forall k, is_law (claim k) by move=> k; apply: law_ok.
have := eager_lazy cl next_fresh n (when_done f) (isT : uniq (keys ([::] : seq (place * T)))).
by rewrite big_nil mul1r lazy_explore => <-; apply: eq_bigr => Y _; rewrite mulr1.
Qed.

Lemma weight_total : \sum_Y weight claim Y = 1.
Proof.
have cl : forall k, is_law (claim k) by move=> k; apply: law_ok.
have := agree_weight cl (isT : uniq (keys ([::] : seq (place * T)))); rewrite big_nil => <-.
by apply: eq_bigr => Y _; rewrite mulr1.
Qed.

Theorem explore_exact n f : explore n [::] (fun _ => 1) = 1 ->
  \sum_Y weight claim Y * f (map decode (tree kept Y)) = explore n [::] f.
Proof.
have cl : forall k, is_law (claim k) by move=> k; apply: law_ok.
have w0 Y : 0 <= weight claim Y by apply: prodr_ge0 => k _; have [] := cl k.
rewrite -eager_explore => one.
have gone : forall Y, true -> weight claim Y * (1 - when_done (fun _ => 1) (run next n [::] Y)) = 0.
  apply: psumr_eq0P => [Y _|]; first by rewrite mulr_ge0 // /when_done; case: (unseen _) => [?|];
    rewrite ?subr0 ?subrr ?ler01.
  by under eq_bigr do rewrite mulrBr mulr1; rewrite sumrB weight_total one subrr.
rewrite -eager_explore; apply: eq_bigr => Y _; have := gone Y isT; rewrite /when_done.
case e: (unseen _) => [k|]; first by rewrite subr0 mulr1 => ->; rewrite !mul0r.
by move=> _; rewrite (grown_kept (run_agree _ _) e).
Qed.

(** as many steps as there are places are always enough *)
Lemma run_grows n t Y : uniq (keys t) ->
  next (run next n t Y) = None \/ size (run next n t Y) = (n + size t)%N /\ uniq (keys (run next n t Y)).
Proof.
elim: n t => [|n IH] t ut /=; first by right.
case e: (next t) => [k|]; last by left.
have := IH (rcons t (k, Y k)); rewrite /keys map_rcons rcons_uniq next_fresh // size_rcons addSnnS; exact.
Qed.

Lemma run_done Y : unseen (map decode (run next #|{: place}| [::] Y)) = None.
Proof.
set t := run _ _ _ _; have [|[sz ut]] := run_grows #|{: place}| Y (isT : uniq (keys ([::] : seq (place * T)))).
  by rewrite -/t /next; case: (unseen _).
case e: (unseen _) => [k|//]; have kt : next t = Some (place_at k.1 k.2) by rewrite /next e.
have u : uniq (place_at k.1 k.2 :: keys t) by rewrite /= (next_fresh kt).
have := max_card (mem (place_at k.1 k.2 :: keys t)).
by rewrite (card_uniqP u) /= size_map sz addn0 ltnn.
Qed.

Theorem explore_whole f :
  \sum_Y weight claim Y * f (map decode (tree kept Y)) = explore #|{: place}| [::] f.
Proof.
apply: explore_exact; rewrite -eager_explore -[RHS]weight_total; apply: eq_bigr => Y _.
by rewrite /when_done run_done mulr1.
Qed.
End Exact.
