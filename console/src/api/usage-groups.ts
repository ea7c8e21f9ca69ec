/** What usage is told apart by: a column of the ledger, the callers' own users, or a tag by its key. */
export const USAGE_GROUPS = ['model', 'deployment', 'project', 'key', 'user'] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number] | `tag:${string}`
