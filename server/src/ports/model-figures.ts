/** What became of the requests for each model, for people: read from the books, never from the request path. */

/** Undefined: of all projects. */
export type Projects = readonly string[] | undefined

export interface ModelFigure {
  readonly lastHour: {
    readonly requests: number
    readonly failed: number
    readonly p95Ms: number | undefined
  }
  readonly lastDay: { readonly requests: number }
}

export interface DeploymentUse {
  /** Calls of 24 hours that were paid for or answered. */
  readonly calls: number
  /** Unix milliseconds of the hour in which it was last called; undefined: not within 30 days. */
  readonly lastUsedAtMs: number | undefined
}

export interface CacheUse {
  /** Of the newest inputs of 24 hours, the part that needed no call. */
  readonly hitsShare: number
  /** In 24 hours. */
  readonly savedNanoUsd: bigint
}

/** A key that asks for a model that is gone. */
export interface RetiredAsker {
  readonly key: string
  readonly requests: number
  /** What it asked the model to make. */
  readonly kind: 'embedding' | 'image'
}

/** The keys that used a model within 30 days. */
export interface ModelUsers {
  /** The busiest first, at most `MOST_USERS`. */
  readonly keys: readonly { readonly key: string; readonly requests: number }[]
  /** Of all keys, also of those that are not named. */
  readonly count: number
}

/** Keys that are named for a model: enough to begin asking their owners. */
export const MOST_USERS = 20

/** A key whose requests name the space that they want. */
export interface SpacePin {
  readonly key: string
  readonly space: string
  readonly requests: number
}

export interface ModelFigures {
  /** By model. A model that nobody asked for is absent. */
  figures(projects: Projects): Promise<ReadonlyMap<string, ModelFigure>>
  /** By deployment, of one model. */
  uses(model: string, projects: Projects): Promise<ReadonlyMap<string, DeploymentUse>>
  /** By model, of those whose provider shut them down: the keys that asked for them within seven days, the busiest first. */
  askedRetired(projects: Projects): Promise<ReadonlyMap<string, readonly RetiredAsker[]>>
  /** By model, of these models: who used them within 30 days. A model that nobody used is absent. */
  users(models: readonly string[], projects: Projects): Promise<ReadonlyMap<string, ModelUsers>>
  /** Of 24 hours, the busiest first. Where there were very many such requests, the newest of them are counted. */
  pins(): Promise<readonly SpacePin[]>
  cacheUse(model: string, projects: Projects): Promise<CacheUse>
  /** What the keys of these projects that still count are restricted to: one list each, undefined for all models. */
  keyModels(projects: readonly string[]): Promise<readonly (readonly string[] | undefined)[]>
}
