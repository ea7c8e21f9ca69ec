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
  states: {
    open: '仍在空间之外',
    waiting: '未修复',
    repairing: '修复中',
    repaired: '已修复',
  },
  nothing: '没有返回向量',
  unlisted: (deployment, time) =>
    `${deployment}：可能缺少 ${time} 之前的请求，这些日期的账本已从数据库中移除。`,
  byHand: '按清单重新嵌入',
  progress: (done, all) => `${whole(done)} / ${whole(all)}`,
  progressHint: '已重新嵌入的向量',
  counts: (vectors, keys) => `${count(vectors)} 个向量，${count(keys)} 个密钥`,
  banner: (from, until, vectors, keys) =>
    `${from} 至 ${until} 之间，可能向 ${count(keys)} 个密钥返回了 ${count(vectors)} 个属于另一个空间的向量。`,
  bannerTitle: '部分向量可能属于另一个空间。',
  bannerAction: '查看时段',
  viewRequests: (requests) => `查看 ${count(requests)} 个请求`,
  repair: '修复…',
  download: '下载清单',
  downloadFailed: (max) => `清单超过 ${whole(max)} 个请求。请使用 torana spaces repair --list。`,
  dialog: {
    title: (vectors, deployment) => `重新嵌入 ${deployment} 的 ${count(vectors)} 个向量？`,
    text: 'Torana 会重新运行已结束批处理的各行，并保留 custom_id。您的索引不会改变：请自行载入结果。',
    lines: '重新嵌入',
    linesText: (vectors) =>
      `批处理行的 ${count(vectors)} 个向量；每个来源批处理对应一个新批处理，使用其密钥和预算`,
    cost: '费用',
    costText: '批处理运行后可知；由其项目支付',
    missing: '无法修复',
    missingText: (vectors) =>
      `${count(vectors)} 个向量：Torana 不保存请求的文本，批处理的文件也会过期。请按清单自行重新嵌入。`,
    missingNone: '没有：Torana 有全部文本',
    go: '修复',
    done: (batches) => `已启动 ${count(batches)} 个批处理`,
    handledTitle: (deployment) => `将 ${deployment} 的时段标记为已处理？`,
    handledText: 'Torana 没有这些文本。请下载清单，用您自己的数据重新嵌入。',
    handled: '标记为已处理',
    handledDone: '时段已标记为已处理',
  },
  onlyAdmins: '需要管理员角色。',
}
