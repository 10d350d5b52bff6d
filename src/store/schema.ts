import type { Generated } from 'kysely'

// The tables of both databases. Times are ms since the epoch (bigint), flags are 0 or 1, lists and objects JSON text.

export interface Schema {
  /** deliveries that became build events; repetitions are only counted, in `fact.repeats` */
  delivery: {
    id: Generated<number>
    received_at: number
    answer: string
    fact_seq: number
    /** as received; of GitLab, what was read */
    body: string
    /** unique: see `Delivery`; null: its source gives none */
    key: string | null
  }
  fact: {
    seq: Generated<number>
    at: number
    origin: string
    project_id: string
    build_id: string
    /** `project_id/build_id` */
    build_key: string
    /** the build's place among those of the project: `orderOf` */
    build_order: string
    lineage_key: string
    /** which card of the revision the build event belongs to; null until it is ingested */
    episode: number | null
    branch_key: string
    branch: string | null
    commit_id: string | null
    word: string
    /** 1: success, failed or infrastructure_failure, which `recovered` is computed from */
    verdict: number
    /** BuildDetails */
    details: string
    /** Judgement of an outcome; null: it is not judged */
    judgement: Generated<string | null>
    /** how often it was repeated */
    repeats: Generated<number>
    /** 0: from a delivery whose sender may not have received our answer */
    acknowledged: Generated<number>
    /** while the build event has no card, it waits to be ingested: most urgent (0) first */
    priority: Generated<number>
  }
  /** revisions to ingest without a new build event, and postponed ones */
  intake: {
    lineage_key: string
    due_at: number
    priority: number
    /** new with each wake, so that ingesting does not erase a wake that came meanwhile */
    stamp: number
  }
  decision: {
    fact_seq: number
    channel: string
    subject: string
    verdict: string
    reason: string
    rules_from: string
    /** RuleResult[] */
    looked: string
    recovered: number
    loud: number
    /** set if the build event belongs to that day's account notice */
    notice_day: string | null
    decided_at: number
  }
  /** what one channel shows about one subject; the queues are the durable queue before Slack */
  card: {
    /** `lineage_key/card`, `notice/YYYY-MM-DD`, or `digest/YYYY-MM-DD-weekly` */
    subject: string
    channel: string
    quiet: number
    mention: number
    details: Generated<string | null>
    post_at: number | null
    post_priority: number | null
    edit_at: number | null
    edit_priority: number | null
    look_at: number | null
    look_priority: number | null
    attempts: number
    /** 1: Slack refused the blocks, so it is sent as text alone */
    plain: number
    problem: string | null
    /** not used any more, since one process sends (decision 12) */
    call: Generated<string | null>
    call_by: Generated<string | null>
  }
  message: {
    /** the claim's key, which travels with the message */
    key: string
    subject: string
    channel: string
    /** `card`, `run:<attempt>`, `tests:<attempt>`, `ask:<request>` or `own:<change>` */
    slot: string
    generation: number
    /** claimed · unclear · posted · gone */
    state: string
    claimed_at: number
    /** the term that claimed or edits it */
    claimed_by: string
    looked_at: number | null
    ts: string | null
    digest: string | null
    /** set while an edit is in flight: its digest */
    sending: string | null
    sending_at: number | null
    recheck_at: number | null
    doubt_at: number | null
    written_at: number | null
    born_run: string | null
  }
  /** recent calls, so that the limits of the last minute are kept across a restart */
  pace: {
    id: Generated<number>
    lane: string
    channel: string
    at: number
    /** not used any more */
    call: Generated<string | null>
  }
  /** not used any more, since one process sends (decision 12) */
  presence: { id: string; alive_until: number }
  /** not used any more (decision 12) */
  slot: {
    lane: string
    channel: string
    free_at: number
    call: string | null
  }
  /** requests from Slack, so that every process recognises a repeated one */
  event: { id: string; heard_at: number }
  channel: {
    id: string
    closed_code: string | null
    closed_at: number | null
    retry_at: number | null
    /** when the people concerned were told of this closing */
    told_at: number | null
  }
  /** ids that channels had before Slack changed them */
  moved_channel: { former_id: string; id: string }
  project: {
    uuid: string
    name: string
    legacy_id: string | null
    /** NotificationRule[]; null where only the legacy interface knows the project */
    rules: string | null
    /** 0: only deliveries have named it */
    read_at: number
    /** `basic`, `pro`, or CI's own word */
    type: string | null
    /** when CI's builds of it were first read; null: not yet */
    looked_at: Generated<number | null>
    /** ProjectClaim; null: deliveries say the same as this row */
    claim: Generated<string | null>
    /** in lower case; null: an older process wrote the row */
    name_key: Generated<string | null>
  }
  /** names under which a source has shown a project before, in lower case; `of_repository`: its repository's name */
  former_name: { name_key: string; uuid: string; of_repository: number }
  /** the state of each build: its newest attempt, as ingested */
  build: {
    build_key: string
    project_id: string
    build_id: string
    build_order: string
    branch_key: string
    branch: string | null
    lineage_key: string
    episode: number
    run: number
    status: string
    word: string
    at: number
    is_running: number
    build_uuid: string | null
    /** the committer's handle in its normal form */
    committer: string | null
    /** the number that people see, where it is not build_id */
    number: Generated<string | null>
    /** when CI was last asked about it, because it had been silent for long */
    asked_at: Generated<number | null>
    /** when its source is to be asked how it ended; null: it runs, or that is known */
    read_end_at: Generated<number | null>
    /** 1: the newest build of its project, by `build_order` */
    newest: Generated<number>
    /** 1: the newest build of its branch with an outcome, which is red and counts for a streak */
    red: Generated<number>
    /** 1: its branch has ended since, so it is not an outcome of a branch of the same name */
    forgotten: Generated<number>
  }
  /** projects as their builds name them; `at`: the newest delivery that is ingested, 0: none */
  heard: {
    project_id: string
    name: string
    full_name: string | null
    project_uuid: string | null
    at: number
    /** `name`, and `full_name` or else `name`, in lower case; null: an older process wrote the row */
    name_key: Generated<string | null>
    full_key: Generated<string | null>
    /** `github:<repository>` of a workflow of GitHub; null: of another project, or an older process wrote the row */
    repository: Generated<string | null>
  }
  interaction: {
    id: string
    ask_key: string
    /** owed · late · given-up · told */
    state: string
    user_id: string
    /** outside text, cut */
    what: string
    channel: string | null
    thread_ts: string | null
    /** a secret for half an hour; null once it is of no use */
    response_url: string | null
    /** what Slack sent, sealed; null: it is never carried out late */
    body: Generated<string | null>
    received_at: number
    /** the process that works on it */
    claimed_by: string
    claimed_at: number
  }
  /** requests to CI, also the audit: at most one is open for each attempt and action, and for each project */
  request: {
    id: string
    /** Slack's id of this interaction: a request with the same id is a repetition */
    ask_key: string
    action: string
    state: string
    build_key: string | null
    /** null: it is about a project */
    run: number | null
    lineage_key: string | null
    subject: string | null
    /** RequestTarget; ProjectTarget if it is about a project */
    target: string
    /** set if it is about a project */
    project_uuid: string | null
    asked_by: string
    asked_team: string | null
    channel: string | null
    via: string
    asked_at: number
    claimed_by: string
    code: string | null
    reason: string | null
    answered_at: number | null
    new_build_id: string | null
    new_build_uuid: string | null
    look_at: number | null
    ended_at: number | null
  }
  subscription: {
    id: Generated<number>
    channel: string
    follows: string
    rules: string | null
    quiet: number
    mention: string
    /** how much of what failed is shown; null: all */
    details: Generated<string | null>
    created_by: string
    created_at: number
    /** `slot`: a hash of what it follows; a channel has one subscription per slot. `remind`: ReminderRule */
    slot: string | null
    changed_by: string | null
    changed_at: number | null
    remind: Generated<string | null>
  }
  /** when a channel gets its digest, and the newest one */
  digest: {
    channel: string
    kind: string
    /** 1: Monday; null: every day */
    weekday: number | null
    /** of the day */
    minute: number
    zone: string
    set_by: string
    set_at: number
    next_at: number
    /** the newest digest; null: none was planned yet */
    period: Generated<string | null>
    due_at: Generated<number | null>
    planned_at: Generated<number | null>
    /** DigestView */
    view: Generated<string | null>
  }
  person: {
    /** in its normal form */
    handle: string
    user_id: string
    claimed_at: number
    /** when the person left the workspace */
    inactive_at: number | null
    /** when Slack was last asked about the person; 0: never */
    checked_at: Generated<number>
  }
  person_setting: { user_id: string; mentions: number }
  report: {
    id: Generated<number>
    /** `project_id/build_id`; the build may not be known */
    build_key: string
    /** the build event that opened the attempt it is about; 0: it came before the build was known */
    attempt_seq: number
    received_at: number
    /** FailureReport */
    body: string
  }
  /** red streaks of branches: at most one of each has not ended */
  breakage: {
    id: string
    branch_key: string
    project_id: string
    branch: string
    /** of its first failure */
    began_at: number
    began_order: string
    builds: number
    /** of its newest failure */
    newest_order: string
    lineage_key: string
    episode: number
    ended_at: number | null
    ended_build: string | null
    owner: string | null
    owned_at: number | null
    owner_until: number | null
    snoozed_until: number | null
    /** when its source was last asked whether the branch is still there */
    checked_at: Generated<number | null>
  }
  /** changes of streaks: the audit, and lines in threads */
  breakage_change: {
    id: string
    breakage_id: string
    ask_key: string | null
    kind: string
    made_by: string
    made_to: string | null
    until: number | null
    at: number
    subject: string
    channel: Generated<string | null>
    number: Generated<number | null>
  }
  job: { name: string; last_done_at: number }
  /** work that only one process may do, and until when it may */
  lease: { name: string; held_by: string; held_until: number }
}
