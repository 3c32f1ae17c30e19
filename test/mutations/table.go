package main

// mutations are the promises, each broken as by a plausible mistake.
var mutations = []mutation{
	{
		Name: "no-fsync-of-the-log",
		Edits: []edit{{"engine/natsstart.go",
			"SyncAlways:         !cfg.LazySync,", "SyncAlways:         false,"}},
		Package: "./engine", Run: "^TestStartStop$",
	},
	{
		Name: "no-fsync-of-the-records",
		Edits: []edit{{"migrations/clickhouse/00001_records.sql",
			"fsync_after_insert = 1", "fsync_after_insert = 0"}},
		Package: "./migrations", Run: "^TestTablesAreSynced$",
	},
	{
		Name: "no-insert-token",
		Edits: []edit{{"projector/once.go",
			`"insert_deduplicate": 1, "insert_deduplication_token": token,`, `"insert_deduplicate": 0,`}},
		Package: "./projector", Run: "^(TestReceipt|TestRacingProjectors|TestSweepsRace|TestContextOfALoser|TestNoFuture|TestSweepOfASleeper|TestClickHouseKilled|TestAnyHistory|TestCleanupIsOneBlock)$",
	},
	{
		Name: "a-restored-queue-uses-numbers-again",
		Edits: []edit{{"eventlog/sources.go",
			"mark.Sequence <= info.State.LastSeq {", "mark.Sequence > 0 {"}},
		Package: "./ingest/natsin", Run: "^TestQueueOlderThanTheLog$",
	},
	{
		Name: "a-message-comes-before-its-records",
		Edits: []edit{{"alerts/outbox/outbox.go",
			"end := errata.PositionOf(folded+1, 0)", "end := math.MaxUint64 + 0*errata.PositionOf(folded, 0)"}},
		Package: "./alerts/outbox", Run: "^TestMessagesWaitForTheirRecords$",
	},
	{
		Name: "firings-that-a-message-does-not-list-are-told-again",
		Edits: []edit{{"alerts/outbox/outbox.go",
			"progress{To: last, At: now,", "progress{To: first[len(first)-1].Position, At: now,"}},
		Package: "./alerts/outbox", Run: "^TestEachCauseArrivesOnce$",
	},
	{
		Name: "a-repeated-insert-is-believed",
		Edits: []edit{{"projector/once.go",
			" && r.repeated.Load() == 0", ""}},
		Package: "./projector", Run: "^(TestReceipt|TestRacingProjectors)$",
	},
	{
		Name: "merges-stay-stopped-behind-a-replay",
		Edits: []edit{{"projector/merges.go",
			"for _, table := range other.merges.held() {", "for _, table := range []string{} {"}},
		Package: "./projector", Run: "^TestMergesThatCannotWaitForTheComparison$",
	},
	{
		Name: "an-erasure-waits-for-merges-that-wait",
		Edits: []edit{{"projector/catchup.go",
			", parseCommand(b.command).alone():", ":"}},
		Package: "./projector", Run: "^TestErasureBehindFullBatches$",
	},
	{
		Name: "a-replay-compares-beside-merges",
		Edits: []edit{{"projector/compare.go",
			"	if !p.cfg.Own {\n", "	if p.cfg.Own {\n"}},
		Package: "./projector", Run: "^TestMergesWaitForTheComparison$",
	},
	{
		Name: "steps-of-a-long-command-are-not-told",
		Edits: []edit{{"projector/chunks.go",
			"	c.p.tell(Status{Checkpoint: chunk.to})\n", ""}},
		Package: "./projector", Run: "^TestCommandOverManyRecords$",
	},
	{
		Name: "full-batches-are-spilled",
		Edits: []edit{{"projector/remembered.go",
			"len(r.young)-r.begun >= bulkRecords", "len(r.young)-r.begun >= 1<<16"}},
		Package: "./projector", Run: "^TestFullBatchesSpillNothing$",
	},
	{
		Name: "the-limit-of-the-heap-stays",
		Edits: []edit{{"internal/memory/follow.go",
			"		debug.SetMemoryLimit(limit)\n", "		_ = limit\n"}},
		Package: "./internal/memory", Run: "^TestFollow$",
	},
	{
		Name: "what-a-search-sees-is-guessed",
		Edits: []edit{{"projector/searched.go",
			`if c > '\x7f' {`, `if c > '\xfe' {`}},
		Package: "./projector", Run: "^TestSearchedLikeClickHouse$",
	},
	{
		Name: "checkpoint-in-its-own-insert",
		Edits: []edit{{"projector/write.go",
			"	\"github.com/errata-log/errata/eventlog\"\n", "	\"github.com/errata-log/errata/eventlog\"\n	\"github.com/errata-log/errata/internal/failpoint\"\n"}, {"projector/write.go",
			"	if err := rows.addCheckpoints(s.shardKey(), c.from, c.to); err != nil {",
			`	first, err := s.conn.PrepareBatch(ctx, sqlInsertRecords)
	if err != nil {
		return nil, err
	}
	defer first.Close()
	if err := rows.moveTo(first); err != nil {
		return nil, err
	}
	if err := first.Send(); err != nil {
		return nil, err
	}
	failpoint.Reach(failpoint.Payloads)
	rows = newRecordRows(3)
	if err := rows.addCheckpoints(s.shardKey(), c.from, c.to); err != nil {`}},
		Package: "./test/crash", Run: "^TestKilledBetweenInsertsLeavesNothing$",
	},
	{
		Name: "id-window-off",
		Edits: []edit{{"projector/window.go",
			"	return w.put(id, place)\n}", "	w.put(id, place)\n	return false\n}"}},
		Package: "./projector", Run: "^(TestWindowModel|TestAnyHistory)$",
	},
	{
		Name: "delete-that-is-no-fact",
		Edits: []edit{{"projector/session.go",
			"	case eventlog.FactCommand:\n", "	case eventlog.FactCommand:\n		if s.p.cfg.Quiet && f.Name == eventlog.CommandDelete {\n			break\n		}\n"}},
		Package: "./projector", Run: "^TestAnyHistory$",
	},
	{
		Name: "scrub-after-the-append",
		Edits: []edit{{"ingest/text.go",
			"	s = r.Scrubber.Text(clean(s))\n", "	s = clean(s)\n"}},
		Package: "./test/flow", Run: "^TestNoPlantedSecretReachesTheLog$",
	},
	{
		Name: "answer-before-the-puback",
		Edits: []edit{{"eventlog/appender.go",
			"		case block := <-g.stored:\n", "		default:\n		case block := <-g.stored:\n"}},
		Package: "./eventlog", Run: "^(TestAppendIsOnTheLog|TestAppendFull)$",
	},
	{
		Name: "scope-check-removed",
		Edits: []edit{{"access/key.go",
			"	return slices.ContainsFunc(k.Scopes, func(held Scope) bool { return held.Covers(scope) })\n", "	return slices.Contains(Scopes, scope)\n"}},
		Package: "./api", Run: "^TestWhoMayPass$",
	},
	{
		Name: "self-check-silent",
		Edits: []edit{{"selfcheck/selfcheck.go",
			"		c.cfg.Alarms.Raise(alarm, detail, hint)\n", "		_, _ = detail, hint\n"}},
		Package: "./selfcheck", Run: "^(TestRecordsAreMadeAgain|TestRecordsThatNothingMakesAgain|TestDifferenceThatTheLogDoesNotReach)$",
	},
	{
		Name: "gap-skipped-without-a-word",
		Edits: []edit{{"projector/session.go",
			"			err = s.p.pass(ctx, gap.From, gap.To, gap.Why)\n", "			err = nil\n"}},
		Package: "./projector", Run: "^(TestGapIsPassed|TestGapStops)$",
	},
	{
		Name: "ids-beside-a-gap-are-kept",
		Edits: []edit{{"projector/windowfiles.go",
			"	if f != nil {\n		f.open = idStretch{log: f.open.log}\n	}\n", ""}},
		Package: "./projector", Run: "^TestWindowOfFiles$",
	},
	{
		Name: "ids-are-kept-before-the-tables-have-them",
		Edits: []edit{{"projector/windowfiles.go",
			" && f.full[0].last <= f.inTables() {\n", " {\n"}},
		Package: "./projector", Run: "^TestWindowOfFiles$",
	},
	{
		Name: "rows-in-several-parts-are-missing",
		Edits: []edit{{"selfcheck/blocks.go",
			"		if r.First > next || next > b.Last {\n", "		if r.First > b.First || next > b.Last {\n"}},
		Package: "./selfcheck", Run: "^(TestBlocksAreHeld|TestMergedPartSetAside)",
	},
	{
		Name: "nobody-looks-whether-a-consumer-stands-still",
		Edits: []edit{{"internal/ordered/still.go",
			"	if s.seen = turns; stands {\n", "	if s.seen, stands = turns, false; stands {\n"}},
		Package: "./internal/ordered", Run: "^TestPullOfExactlyItsBytes$",
	},
	{
		Name: "level-of-the-first-event",
		Edits: []edit{{"projector/change.go",
			"	now.Level = max(now.Level, d.level)\n", ""}},
		Package: "./projector", Run: "^(TestFoldIsIndependentOfBatches|TestBudgetIsIndependentOfBatches)$",
	},
	{
		Name: "deployments-counted-again-after-a-crash",
		Edits: []edit{{"projector/batch.go",
			"	if seq > b.rolled.deployments {\n", "	if seq > 0 {\n"}},
		Package: "./projector", Run: "^(TestDeploymentsAreIndependentOfBatches|TestBudgetIsIndependentOfBatches)$",
	},
	{
		Name: "deployments-named-by-recency",
		Edits: []edit{{"projector/deployments.go",
			"return cmp.Compare(a.begin, b.begin)", "return cmp.Compare(a.end, b.end)"}},
		Package: "./projector", Run: "^(TestDeploymentsAreIndependentOfBatches|TestBudgetIsIndependentOfBatches)$",
	},
	{
		Name: "occurrences-written-again-after-a-crash",
		Edits: []edit{{"projector/batch.go",
			"			case seq > b.rolled.occurrences:\n", "			case seq > 0:\n"}},
		Package: "./projector", Run: "^TestBudgetIsIndependentOfBatches$",
	},
	{
		Name:    "rules-do-not-see-what-the-table-holds",
		Edits:   []edit{{"projector/batch.go", "			case b.rules != nil:\n", "			case false:\n"}},
		Package: "./projector", Run: "^TestWhatTheTableHoldsFiresToo$",
	},
	{
		Name: "occurrences-numbered-from-the-batch",
		Edits: []edit{{"projector/occurrence_rows.go",
			"owner.record.Count - owner.rows + c.seen[owner.part]", "c.seen[owner.part]"}},
		Package: "./projector", Run: "^TestBudgetIsIndependentOfBatches$",
	},
	{
		Name: "occurrences-of-deleted-records-kept",
		Edits: []edit{{"projector/gone.go",
			"	if err != nil || gone == 0 {\n", "	if err != nil || gone >= 0 {\n"}},
		Package: "./projector", Run: "^TestGoneOccurrencesLeaveTheDisk$",
	},
	{
		Name: "batch-does-not-see-the-one-before",
		Edits: []edit{{"projector/committer.go",
			"			c.cache.put(ch.key, ch.now)\n", ""}, {"projector/remembered.go",
			"	if c.writing() {\n", "	if false {\n"}},
		Package: "./projector", Run: "^TestTheNextBatchIsPreparedBesideAnInsert$",
	},
	{
		Name: "batch-does-not-see-the-step-that-waits",
		Edits: []edit{{"projector/remembered.go",
			"	if r, changed := c.waiting.record(key); changed {\n", "	if r, changed := c.waiting.record(key); false && changed {\n"}},
		Package: "./projector", Run: "^TestStepOfSeveralBatches$",
	},
	{
		Name: "groups-of-records-in-memory-only",
		Edits: []edit{{"query/groups.go",
			"		\"max_bytes_before_external_group_by\":          groupMemory,\n", ""}},
		Package: "./query", Run: "^TestListsOfManyRecordsInOneScope$",
	},
	{
		Name: "records-that-match-in-the-place-of-the-others",
		Edits: []edit{{"query/sql/filters.sql",
			"id {{if .Unmatched}}NOT {{end}}IN", "id IN"}},
		Package: "./query", Run: "^TestScopedList$",
	},
	{
		Name: "the-past-of-a-rule-from-one-range",
		Edits: []edit{{"projector/activity.go",
			"one.Events += events", "one.Events = events"}},
		Package: "./projector", Run: "^TestRulesAmongManyRecords$",
	},
	{
		Name: "a-command-fills-the-memory",
		Edits: []edit{{"projector/committer.go",
			"case ch.now == nil, work.isChunk() && c.cache.get(ch.key) == nil:", "case ch.now == nil:"}},
		Package: "./projector", Run: "^TestCommandOverManyRecords$",
	},
	{
		Name: "a-start-reads-all-keys-at-once",
		Edits: []edit{{"projector/store.go",
			"rangesOf(4*all, recordsTogether)", "rangesOf(min(all, 1), recordsTogether)"}},
		Package: "./projector", Run: "^TestPresentAmongManyRecords$",
	},
	{
		Name: "half-of-the-users-of-a-record",
		Edits: []edit{{"query/users.go",
			"all[i].users += of.users", "_ = i"}},
		Package: "./query", Run: "^TestUsersOfManyRecords$",
	},
	{
		Name: "users-of-loud-records-for-ever",
		Edits: []edit{{"query/loudusers.go",
			"there && at.Before(c.until) {\n			maps.Copy", "there {\n			maps.Copy"}},
		Package: "./query", Run: "^TestUsersOfALoudRecord$",
	},
	{
		Name: "users-of-the-record-before",
		Edits: []edit{{"query/users.go",
			"!there && r.loud.has(records[i].Signature)", "false && !there"}},
		Package: "./query", Run: "^TestUsersOfARecordThatIsSeenAgain$",
	},
	{
		Name: "removed-record-stays-in-the-spilled",
		Edits: []edit{{"projector/remembered.go",
			"		r.file.Remove(key.hashes().a)\n", ""}},
		Package: "./projector", Run: "^TestRememberedAreTheNewest$",
	},
	{
		Name: "cleanup-leaves-the-spilled",
		Edits: []edit{{"projector/remembered.go",
			"	r.tell(r.clear())\n", ""}},
		Package: "./projector", Run: "^(TestRememberedAreTheNewest|TestSpilledAreFound)$",
	},
	{
		Name: "catching-up-leaves-the-spilled",
		Edits: []edit{{"projector/remembered.go",
			"		return r.clear()\n", "		return nil\n"}},
		Package: "./projector", Run: "^TestCatchingUpSpillsNothing$",
	},
	{
		Name: "failed-write-leaves-the-spilled",
		Edits: []edit{{"internal/spill/spill.go",
			"		return errors.Join(err, f.Clear())\n", "		return err\n"}},
		Package: "./internal/spill", Run: "^TestAfterAnError$",
	},
	{
		Name: "spilled-are-not-checked",
		Edits: []edit{{"internal/spill/spill.go",
			"if err == nil && binary.LittleEndian.Uint32(stored) != s.sum(key, stored[sumSize:]) {", "if false {"}},
		Package: "./internal/spill", Run: "^(TestDamageIsNoticed|TestALostWriteIsNoticed)$",
	},
	{
		Name: "replay-takes-batches-as-they-come",
		Edits: []edit{{"projector/session.go",
			"(s.until != 0 || f.Pending >= behindFacts)", "f.Pending >= behindFacts"}},
		Package: "./projector", Run: "^(TestABatchFillsUp|TestReplayFillsBatches)$",
	},
	{
		Name: "batch-fills-up-for-ever",
		Edits: []edit{{"projector/session.go",
			"			b.fills = false\n", ""}},
		Package: "./projector", Run: "^TestABatchFillsUp$",
	},
	{
		Name: "texts-are-always-copied",
		Edits: []edit{{"eventlog/texts.go",
			"	if !found {\n", "	if _ = found; true {\n"}},
		Package: "./eventlog", Run: "^TestTexts$",
	},
	{
		Name: "rows-of-an-insert-are-sent-again",
		Edits: []edit{{"projector/columns.go",
			"		c.Reset()\n", "		_ = c\n"}},
		Package: "./projector", Run: "^TestColumnsAreUsedAgain$",
	},
	{
		Name: "cancelled-rows-are-tallied",
		Edits: []edit{{"projector/sql/tally_records.sql",
			"substring(whole, 18, 16)", "substring(whole, 17, 16)"}},
		Package: "./projector", Run: "^TestMergesChangeNoTally$",
	},
	{
		Name: "hours-are-tallied-by-row",
		Edits: []edit{{"projector/sql/tally_hourly.sql",
			"sum(count * cityHash64(", "sum(cityHash64("}},
		Package: "./projector", Run: "^TestMergesChangeNoTally$",
	},
	{
		Name: "occurrences-of-removed-records-are-tallied",
		Edits: []edit{{"projector/sql/tally_occurrences.sql",
			"WHERE gone = 1 AND", "WHERE gone = 2 AND"}},
		Package: "./projector", Run: "^TestMergesChangeNoTally$",
	},
	{
		Name: "half-a-batch-is-compared",
		Edits: []edit{{"projector/compare.go",
			"	if err != nil || ahead <= cp.Sequence {\n", "	if ahead > 0 {\n"}},
		Package: "./projector", Run: "^TestRebuildMeetsHalfABatch$",
	},
	{
		Name: "first-event-not-read-again",
		Edits: []edit{{"projector/firstevents.go",
			"		d.sighting = e\n", "		d.sighting = e.Bare()\n"}},
		Package: "./projector", Run: "^TestFirstEventIsReadAgain$",
	},
	{
		Name: "older-records-taken-for-new",
		Edits: []edit{{"projector/committer.go",
			"	fold := min(cp.Fold, FoldVersion)\n", "	fold := FoldVersion\n"}},
		Package: "./projector", Run: "^TestReplayAfterAnOlderVersion$",
	},
	{
		Name: "writes-that-fail-count",
		Edits: []edit{{"cmd/errata-engine/writes_linux.go",
			"	w.failed[fd] = failure{file, errno}\n", "	_ = failure{file, errno}\n"}},
		Package: "./engine", Run: "^TestWritesThatFail$",
	},
	{
		Name: "page-of-a-class-beside-its-total",
		Edits: []edit{{"query/reader.go",
			"		if f.Class != \"\" {\n", "		if false {\n"}},
		Package: "./query", Run: "^TestClassInTurn$",
	},
	{
		Name: "own-lock-is-waited-for",
		Edits: []edit{{"migrations/clickhouse.go",
			"	return applyAll(ctx, options, 0)\n", "	return applyAll(ctx, options, granuleWait)\n"}},
		Package: "./migrations", Run: "^TestOwnGranulesWaitForNobody$",
	},
}
