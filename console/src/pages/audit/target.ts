/** The page of what an entry of the audit is about, where there is one. */
import { paths } from '../../app/paths.ts'
import type { Address } from '../../ui/link.tsx'

export function targetPath({
  action,
  target,
}: {
  readonly action: string
  readonly target: string
}): Address | undefined {
  const [what = '', verb] = action.split('.')
  switch (what) {
    case 'key':
      return paths.key(target)
    case 'project':
      return verb === 'removed' || verb === 'delete' ? undefined : paths.settings('projects')
    case 'budget':
      return paths.budget(target)
    case 'unknown':
      return paths.request(target.split('/')[0] ?? target)
    case 'batch':
      return paths.batch(target)
    case 'deployment':
      return paths.deployment(target)
    case 'space':
      return paths.model(target, { tab: 'space' })
    case 'model':
      return verb === 'delete' ? undefined : paths.model(target)
    case 'price':
      return paths.settings('prices')
    case 'node':
      return paths.settings('nodes')
    case 'member':
      return paths.settings('members')
    case 'token':
      return paths.settings('tokens')
    case 'sign_on':
      return paths.settings('sign-on')
    default:
      return undefined
  }
}
