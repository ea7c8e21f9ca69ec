/** What the routes about people need from outside. */
import type { AdminTokenStore } from '#ports/admin-tokens.ts'
import type { InvitationStore } from '#ports/invitations.ts'
import type { MemberStore } from '#ports/members.ts'
import type { Passwords } from '#ports/passwords.ts'
import type { SavedViewStore } from '#ports/saved-views.ts'
import type { TextSeal } from '#ports/sealing.ts'
import type { SessionStore } from '#ports/sessions.ts'
import type { IdentityProvider, SignOnStore } from '#ports/sign-on.ts'
import type { Callers } from './callers.ts'
import type { SignInLimits } from './sign-in-limits.ts'
import type { Transports } from './transport.ts'

/** What the console shows of this install on every page. */
export interface InstallFacts {
  readonly name: string | undefined
  readonly version: string
  readonly gatewayUrl: string
  /** No key was made yet: the steps of a first start are not done. */
  readonly isFirstRun: boolean
  /** No upstream is connected: only the models inside answer. */
  readonly hasOnlyDemo: boolean
}

export interface PeopleDependencies {
  readonly members: MemberStore
  readonly invitations: InvitationStore
  readonly sessions: SessionStore
  readonly signOn: SignOnStore
  readonly identityProvider: IdentityProvider
  readonly adminTokens: AdminTokenStore
  readonly savedViews: SavedViewStore
  readonly passwords: Passwords
  /** For what a browser carries and must not read or change. */
  readonly seal: TextSeal
  readonly transports: Transports
  readonly callers: Callers
  readonly signInLimits: SignInLimits
  readonly install: () => Promise<InstallFacts>
  readonly nowMs: () => number
  /** The identity provider failed, or let somebody in whom no rule gives a role. The browser is told less. */
  readonly onSignOnTrouble: (trouble: { readonly problem: string; readonly cause?: unknown }) => void
}
