import type { ChannelId } from '../domain/ids.ts'
import type { Permit } from '../domain/permission.ts'
import type {
  ActOutcome,
  Asker,
  BadgeOutcome,
  BuildSummary,
  ListOutcome,
  ListQuestion,
  NotFound,
  ProjectRef,
  RunningOutcome,
  StatusOutcome,
  Target,
  WhyOutcome,
} from '../catalog/outcomes.ts'
import type { DoctorOperations } from './doctor/asked.ts'
import type { HomeOperations } from './home/outcomes.ts'
import type { ProjectOperations } from './projects/outcomes.ts'
import type { PersonOperations } from './people/outcomes.ts'
import type { SubscriptionOperations } from './subscriptions/outcomes.ts'

/** What the bot can do, once, whoever asks. Doors get nothing but this. */
export interface Operations {
  listProjects(question: ListQuestion): Promise<ListOutcome>
  status(
    about: { project: string | null; branch: string | null; channel: ChannelId | null } | { target: Target },
  ): Promise<StatusOutcome>
  /** One build, for a choice or a modal. */
  findBuild(target: Target): Promise<{ kind: 'found'; build: BuildSummary } | NotFound>
  running(channel: ChannelId | null): Promise<RunningOutcome>
  stop(target: Target, by: Asker): Promise<ActOutcome>
  restart(target: Target, by: Asker): Promise<ActOutcome>
  badge(about: { project: string; branch: string | null }): Promise<BadgeOutcome>
  why(target: Target | null, by: Pick<Asker, 'user' | 'channel'>): Promise<WhyOutcome>
  /** Project names that begin with or contain the text, for a picker. */
  suggestProjects(text: string): Promise<readonly ProjectRef[]>
  suggestBranches(project: string, text: string): Promise<readonly string[]>
  /** May this person read at all? Guests may, outsiders of shared channels may not. */
  mayRead(by: Pick<Asker, 'user' | 'team'>): Promise<Permit | { kind: 'unknown-person'; code: string }>
  subscriptions: SubscriptionOperations
  people: PersonOperations
  home: HomeOperations
  doctor: DoctorOperations
  projects: ProjectOperations
}
