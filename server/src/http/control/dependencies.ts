/** What the routes of the control API need from outside. */
import type { Fault } from '#core/fault/fault.ts'
import type { AuditLog } from '#ports/audit.ts'
import type { AccessDependencies } from './access/authenticate.ts'
import type { PeopleDependencies } from './access/people.ts'
import type { CredentialDependencies } from './credentials/credentials.ts'
import type { KeyDependencies } from './keys/dependencies.ts'
import type { ResolveDependencies } from './resolve/routes.ts'
import type { PlaygroundDependencies } from './playground/routes.ts'
import type { BackupDependencies } from './backup/routes.ts'
import type { BatchesDependencies } from './batches/routes.ts'
import type { BooksDependencies } from './books/books.ts'
import type { DeploymentDependencies } from './deployments/routes.ts'
import type { OverviewDependencies } from './overview/routes.ts'
import type { EventsDependencies } from './events/events.ts'
import type { MoneyDependencies } from './money/routes.ts'
import type { ModelsDependencies } from './models/routes.ts'
import type { AssetsDependencies } from './images/assets.ts'
import type { ImageJobsDependencies } from './images/jobs.ts'
import type { RequestsDependencies } from './requests/routes.ts'
import type { SettingsDependencies } from './settings/routes.ts'
import type { StoredModelsDependencies } from './upstreams/models.ts'
import type { SpacesDependencies } from './spaces/spaces.ts'

/** A request as the log shows it. */
export interface ControlRequest {
  readonly requestId: string
  readonly client: string
  readonly method: string
  /** Without the query. */
  readonly path: string
}

export interface ApiDependencies extends KeyDependencies, CredentialDependencies, AccessDependencies {
  readonly audit: AuditLog
  /** Undefined on a node that keeps nothing. */
  readonly books?: BooksDependencies | undefined
  readonly backup?: BackupDependencies | undefined
  readonly money?: MoneyDependencies | undefined
  readonly spaces?: SpacesDependencies | undefined
  readonly people?: PeopleDependencies | undefined
  readonly settings?: SettingsDependencies | undefined
  readonly events?: EventsDependencies | undefined
  readonly overview?: OverviewDependencies | undefined
  readonly resolve?: ResolveDependencies | undefined
  readonly playground?: PlaygroundDependencies | undefined
  readonly deployments?: DeploymentDependencies | undefined
  readonly models?: ModelsDependencies | undefined
  readonly requests?: RequestsDependencies | undefined
  readonly imageJobs?: ImageJobsDependencies | undefined
  readonly assets?: AssetsDependencies | undefined
  readonly batches?: BatchesDependencies | undefined
  readonly storedModels?: StoredModelsDependencies | undefined
  readonly docsUrl: () => string
  /** Told of each fault, with its cause, which the caller does not see. */
  readonly onFault: (fault: Fault, request: ControlRequest) => void
  /** Told of each request with a valid token, when it is answered. */
  readonly onAdminRequest: (
    request: ControlRequest & { readonly actor: string; readonly status: number },
  ) => void
}
