import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function DeploymentPage() {
  return <Page title={words.deployments.title} />
}
