import { count, whole } from '../../app/format.ts'
import type { suspects as english } from '../en/suspects.ts'
import type { Partly } from '../fallback.ts'

export const suspects: Partly<typeof english> = {
  title: '可疑时段',
  note: '从最后一次通过的检查到未通过的检查：其间返回的向量可能属于另一个空间',
  heads: {
    time: '时段',
    deployment: '部署',
    vectors: '向量',
    requests: '请求',
    keys: '密钥',
    lines: '批处理行',
    state: '状态',
    actions: '操作',
  },
  last: (time) => `最后一个此类向量 ${time}`,
  open: '仍在空间之外',
  ended: '按清单重新嵌入',
  nothing: '没有返回向量',
  unlisted: (deployment, time) =>
    `${deployment}：可能缺少 ${time} 之前的请求，这些日期的账本已从数据库中移除。`,
  counts: (vectors, keys) => `${count(vectors)} 个向量，${count(keys)} 个密钥`,
  banner: (from, until, vectors, keys) =>
    `${from} 至 ${until} 之间，可能向 ${count(keys)} 个密钥返回了 ${count(vectors)} 个属于另一个空间的向量。`,
  bannerTitle: '部分向量可能属于另一个空间。',
  bannerAction: '查看时段',
  viewRequests: (requests) => `查看 ${count(requests)} 个请求`,
  download: '下载清单',
  downloadFailed: (max) => `清单超过 ${whole(max)} 个请求。请使用 torana spaces suspects。`,
}
