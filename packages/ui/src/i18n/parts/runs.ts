import runs from '../en/runs.json';
import { addTexts } from './add-texts.ts';

await addTexts({ runs }, () => import('../ja-runs.ts'));
