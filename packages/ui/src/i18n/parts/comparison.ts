import comparison from '../en/comparison.json';
import { addTexts } from './add-texts.ts';

await addTexts({ comparison }, () => import('../ja-runs.ts'));
