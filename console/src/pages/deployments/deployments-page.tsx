import { Page } from '../../ui/page.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { words } from '../../words/words.ts'

export function DeploymentsPage() {
  return (
    <Page title={words.deployments.title}>
      <LoadingRows />
    </Page>
  )
}
