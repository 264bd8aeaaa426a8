(** Concrete pairs: tables of rationals, as rheocheck.core.pair has them, and the check that their rows are laws. *)
From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws explore.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** the tokens 0, 1 and 0, 1, 2, in lists that compute *)
Definition vocab2 : seq 'I_2 := [:: @Ordinal 2 0 isT; @Ordinal 2 1 isT].
Definition vocab3 : seq 'I_3 := [:: @Ordinal 3 0 isT; @Ordinal 3 1 isT; @Ordinal 3 2 isT].

Lemma vocab2E : vocab2 = enum 'I_2.
Proof. by apply: (inj_map val_inj); rewrite val_enum_ord. Qed.

Lemma vocab3E : vocab3 = enum 'I_3.
Proof. by apply: (inj_map val_inj); rewrite val_enum_ord. Qed.

Section Models.
Variables (R : realFieldType) (n : nat).
Implicit Types (row : seq R) (rows : seq (seq nat * seq R)) (s : seq 'I_n).

(** a model: the row of the empty context, and rows of longer ones; a context uses that of its longest suffix *)
Definition entry_at rows (s : seq nat) : option (seq R) := ohead [seq e.2 | e <- rows & e.1 == s].
Fixpoint row_of row rows (s : seq nat) : seq R :=
  if entry_at rows s is Some r then r else if s is _ :: s' then row_of row rows s' else row.
Definition model row rows s (x : 'I_n) : R := nth 0 (row_of row rows (map val s)) (val x).

Definition is_row (vocab : seq 'I_n) (r : seq R) :=
  all (fun x : 'I_n => 0 <= nth 0 r (val x)) vocab && (total vocab (fun x : 'I_n => nth 0 r (val x)) == 1).

Lemma row_of_all (a : pred (seq R)) row rows (s : seq nat) : a row -> all a [seq e.2 | e <- rows] ->
  a (row_of row rows s).
Proof.
move=> ar /allP al; have hit (s' : seq nat) r : entry_at rows s' = Some r -> a r.
  rewrite /entry_at; case e: [seq _ | _ <- _ & _] => [|r' l] //= [<-]; apply: al.
  have : r' \in [seq e.2 | e <- rows & e.1 == s'] by rewrite e mem_head.
  by case/mapP => u; rewrite mem_filter => /andP[_ ur] ->; apply: map_f.
by elim: s => [|x s IH] /=; case e: (entry_at _ _) => [r|//]; apply: hit e.
Qed.

(** what a computation must find for the models of a theorem to be laws *)
Lemma model_law vocab row rows s : vocab = enum 'I_n -> is_row vocab row -> all (is_row vocab) [seq e.2 | e <- rows] ->
  is_law (model row rows s).
Proof.
move=> ve rr rs; have := row_of_all (map val s) rr rs; rewrite /is_row ve => /andP[/allP pos /eqP one].
by split=> [x|]; [apply: pos; rewrite mem_enum | rewrite -[RHS]one total_sum].
Qed.
End Models.
