import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { readGroups } from './gallery/entries.ts'
import { takePictures } from './gallery/pictures.ts'
import { buildGallery, GOLDEN } from './gallery/site.ts'
import { emptyFolder, readFlags } from '../../lib/program.ts'

// npm run gallery: everything that Buildline says, as a page to open, made of the golden files. `-- --pictures` takes the
// pictures of the documentation (docs/pictures) with the Chromium that is found on the PATH, or that CHROMIUM names.

const ROOT = join(import.meta.dirname, '..', '..', '..')

const values = readFlags({ folder: { type: 'string' }, pictures: { type: 'boolean', default: false } })

const folder = values.folder ?? join(ROOT, 'test-results', 'gallery')

emptyFolder(folder, 'entries.js')
for (const [name, bytes] of await buildGallery(GOLDEN)) writeFileSync(join(folder, name), bytes)
console.log(`Open ${relative('', join(folder, 'index.html'))}`)

if (values.pictures) for (const file of await takePictures(folder, readGroups(GOLDEN))) console.log(relative('', file))
