import { Page } from '../../ui/page.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { words } from '../../words/words.ts'

export function DeploymentPage() {
  return (
    <Page title={words.deployments.title}>
      <LoadingRows />
    </Page>
  )
}
