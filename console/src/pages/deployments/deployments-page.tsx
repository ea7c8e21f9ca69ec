import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function DeploymentsPage() {
  return <Page title={words.deployments.title} />
}
