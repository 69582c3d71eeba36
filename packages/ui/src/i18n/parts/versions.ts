import versions from '../en/versions.json';
import { addTexts } from './add-texts.ts';

await addTexts({ versions }, () => import('../ja-versions.ts'));
