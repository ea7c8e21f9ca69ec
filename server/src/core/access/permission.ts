/** Permissions of people and programs at the control API: roles, and the lowest role that each action needs. */

/** Each role includes the one before. A developer sees named projects only; the other two see all. */
export const ROLES = ['developer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** By the lowest role that has it. */
const PERMISSIONS_OF = {
  /** Each of these holds within the developer's own projects. */
  developer: [
    'overview.read',
    'alerts.read',
    'requests.read',
    'models.read',
    'usage.read',
    'budgets.read',
    'projects.read',
    'keys.read',
    'keys.create',
    'keys.write',
    'playground.run',
    'assets.read',
    'batches.read',
    'batches.create',
    'batches.pause',
    'batches.cancel',
    'batches.continue',
  ],
  operator: [
    'alerts.write',
    'deployments.read',
    'deployments.test',
    'deployments.drain',
    'spaces.read',
    'spaces.probe',
    'upstreams.read',
    'prices.read',
    'nodes.read',
    'doctor.read',
    'unknowns.read',
    'unknowns.resolve',
    'settings.read',
    'audit.read',
  ],
  admin: [
    'spaces.accept',
    'configuration.export',
    'upstreams.write',
    'models.write',
    'prices.write',
    /** Removing a bound of a key, or widening it. */
    'keys.loosen',
    'projects.write',
    'projects.delete',
    'nodes.end',
    'usage.export',
    'audit.export',
    'backup.make',
    'members.read',
    'members.write',
    'members.invite',
    'sign_on.read',
    'sign_on.write',
    'tokens.read',
    'tokens.write',
  ],
} as const satisfies Record<Role, readonly string[]>

export type Permission = (typeof PERMISSIONS_OF)[Role][number]

export const PERMISSIONS: readonly Permission[] = ROLES.flatMap((role) => PERMISSIONS_OF[role])

/** All permissions of a role, including those of the roles before. */
export function permissionsOf(role: Role): readonly Permission[] {
  return ROLES.slice(0, ROLES.indexOf(role) + 1).flatMap((one) => PERMISSIONS_OF[one])
}

export function may(role: Role, permission: Permission): boolean {
  return permissionsOf(role).includes(permission)
}

/** The roles that have a permission, for a sentence that names who could do it. */
export function rolesWith(permission: Permission): readonly Role[] {
  return ROLES.filter((role) => may(role, permission))
}
