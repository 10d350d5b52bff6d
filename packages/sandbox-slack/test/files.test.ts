/* oxlint-disable unicorn/require-post-message-target-origin -- Slack's postMessage is not a window's */
import { LogLevel } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import { describe, expect, test } from 'vitest'
import { FILE_BYTES_MAX } from '../src/files.ts'
import { listOf, objectOf } from '../src/json.ts'
import { CHANNELS } from '../src/workspace.ts'
import { BUILDS, openStage } from './stage.ts'
import type { Stage } from './stage.ts'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

async function begin(stage: Stage, name = 'badge.png', length = PNG.length) {
  const begun = await stage.call('files.getUploadURLExternal', { filename: name, length })
  return { ...begun, id: String(begun['file_id']), url: String(begun['upload_url']) }
}

const upload = (url: string, body: Buffer | FormData) =>
  fetch(url, { method: 'POST', body: body instanceof FormData ? body : new Uint8Array(body) })

async function uploaded(stage: Stage, name?: string): Promise<string> {
  const { id, url } = await begin(stage, name)
  expect((await upload(url, PNG)).status).toBe(200)
  return id
}

const complete = (stage: Stage, id: string, args: object = {}) =>
  stage.call('files.completeUploadExternal', { files: [{ id, title: 'Badge' }], channel_id: BUILDS, ...args })

const image = (source: object) => ({ type: 'image', alt_text: 'passing', ...source })

describe('an upload', () => {
  test('becomes a message with the file, whose bytes are at url_private', async () => {
    const stage = await openStage()
    const id = await uploaded(stage)
    expect(await complete(stage, id, { initial_comment: 'acme/web on main' })).toMatchObject({
      ok: true,
      files: [{ id, title: 'Badge', size: PNG.length }],
    })
    const [message] = stage.sandbox.messages(BUILDS)
    expect(message).toMatchObject({
      text: 'acme/web on main',
      user: 'U0BUILDBOT',
      files: [{ id, name: 'badge.png', title: 'Badge', mimetype: 'image/png', size: PNG.length }],
    })
    const { url_private: url, permalink } = listOf(message?.['files'])[0] ?? {}
    const served = await fetch(String(url))
    expect(served.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await served.arrayBuffer())).toEqual(PNG)
    expect(permalink).toContain(`/${id}/badge.png`)
    expect(stage.sandbox.transcript(BUILDS)).toContain('acme/web on main (file badge.png)')
  })

  test('can be sent as a form, and shared in a thread', async () => {
    const stage = await openStage()
    const root = await stage.post()
    const { id, url } = await begin(stage)
    const form = new FormData()
    form.append('filename', new Blob([new Uint8Array(PNG)]), 'badge.png')
    expect(await (await upload(url, form)).text()).toBe(`OK - ${PNG.length}`)
    expect(await complete(stage, id, { thread_ts: root })).toMatchObject({ ok: true })
    expect(stage.sandbox.messages(BUILDS)[1]).toMatchObject({ thread_ts: root, files: [{ id }] })
  })

  test('works with the Web API client', async () => {
    const { sandbox } = await openStage()
    const client = new WebClient(sandbox.botToken, { slackApiUrl: sandbox.apiUrl, logLevel: LogLevel.ERROR })
    await client.filesUploadV2({ channel_id: BUILDS, filename: 'badge.png', file: PNG, initial_comment: 'badge' })
    expect(sandbox.messages(BUILDS)).toMatchObject([{ text: 'badge', files: [{ name: 'badge.png', size: 8 }] }])
  })

  test('is not visible before it is completed', async () => {
    const stage = await openStage()
    const id = await uploaded(stage)
    expect((await fetch(`${stage.sandbox.url}/files/${id}/badge.png`)).status).toBe(404)
    expect(stage.sandbox.messages(BUILDS)).toEqual([])
  })

  test('accepts exactly the announced number of bytes, once', async () => {
    const stage = await openStage()
    const { url } = await begin(stage)
    expect((await upload(url, PNG.subarray(1))).status).toBe(400)
    expect((await upload(url, PNG)).status).toBe(200)
    expect((await upload(url, PNG)).status).toBe(404)
    expect((await upload(`${stage.sandbox.url}/upload/v1/F00`, PNG)).status).toBe(404)
  })

  test('has from one byte to FILE_BYTES_MAX', async () => {
    const stage = await openStage()
    expect(await begin(stage, 'a.txt', 0)).toMatchObject({ error: 'invalid_arguments' })
    expect(await begin(stage, 'a.txt', FILE_BYTES_MAX)).toMatchObject({ ok: true })
    expect(await begin(stage, 'a.txt', FILE_BYTES_MAX + 1)).toMatchObject({ error: 'file_upload_size_restricted' })
  })

  test('can be completed once, after its bytes arrived, in a channel that the bot can write to', async () => {
    const stage = await openStage()
    const { id: empty } = await begin(stage)
    const id = await uploaded(stage)
    const error = async (file: string, args?: object) => (await complete(stage, file, args)).error
    expect(await error(empty)).toBe('file_not_found')
    expect(await error('F0NONE')).toBe('file_not_found')
    expect(await error(id, { channel_id: CHANNELS.elsewhere })).toBe('not_in_channel')
    expect(await error(id, { channel_id: CHANNELS.archived })).toBe('is_archived')
    expect(await error(id, { channel_id: 'C0NOWHERE1' })).toBe('channel_not_found')
    expect(await error(id, { thread_ts: '1.1' })).toBe('thread_not_found')
    expect(stage.sandbox.messages(BUILDS)).toEqual([])
    expect(await error(id)).toBeUndefined()
    expect(await error(id)).toBe('file_not_found')
    expect(stage.sandbox.messages(BUILDS)).toHaveLength(1)
  })

  test('can lose its answer like any call', async () => {
    const stage = await openStage()
    const { id, url } = await begin(stage)
    stage.sandbox.faults.add({ kind: 'accept-then-5xx', method: 'upload_url', times: 1 })
    expect((await upload(url, PNG)).status).toBe(503)
    expect(await complete(stage, id)).toMatchObject({ ok: true })
  })
})

test('a file that is not a picture is served as a download, in which no script runs', async () => {
  const stage = await openStage()
  const id = await uploaded(stage, 'page.html')
  await complete(stage, id)
  const { headers } = await fetch(`${stage.sandbox.url}/files/${id}/page.html`)
  expect(headers.get('content-disposition')).toBe('attachment')
  expect(headers.get('content-security-policy')).toContain('sandbox')
})

describe('an image block', () => {
  test('can show a file a moment after it is complete, even if it is not shared', async () => {
    const stage = await openStage()
    const id = await uploaded(stage)
    const blocks = [image({ slack_file: { id } })]
    const post = () => stage.call('chat.postMessage', { channel: BUILDS, text: 'badge', blocks })
    const refused = {
      error: 'invalid_blocks',
      errors: ['invalid slack file [json-pointer:/blocks/0/slack_file]'],
    }
    expect(await post()).toMatchObject(refused)
    await complete(stage, id, { channel_id: '' })
    expect(await post()).toMatchObject(refused)
    stage.clock.advance(1_000)
    expect(await post()).toMatchObject({ ok: true })
    expect(stage.sandbox.messages(BUILDS)).toMatchObject([{ blocks: [{ slack_file: { id } }] }])
  })

  test.each([
    ['no source', {}],
    ['two sources', { image_url: 'https://ci.test/badge.png', slack_file: { id: 'F01' } }],
    ['a file without id and url', { slack_file: {} }],
    ['an unknown file', { slack_file: { id: 'F0NONE' } }],
  ])('is refused with %s', async (_what, source) => {
    const { call } = await openStage()
    const args = { channel: BUILDS, text: 'badge', blocks: [image(source)] }
    expect((await call('chat.postMessage', args)).error).toBe('invalid_blocks')
    const inContext = { ...args, blocks: [{ type: 'context', elements: [image(source)] }] }
    expect((await call('chat.postMessage', inContext)).error).toBe('invalid_blocks')
  })

  test('is refused in a view too', async () => {
    const { call } = await openStage()
    const view = { type: 'home', blocks: [image({ slack_file: { id: 'F0NONE' } })] }
    const { error, response_metadata: told } = await call('views.publish', { user_id: 'U0ADA00001', view })
    expect(error).toBe('invalid_arguments')
    expect(objectOf(told)['messages']).toEqual([expect.stringContaining('/view/blocks/0/slack_file')])
  })
})
