import workplace from '../en/workplace.json';
import { addTexts } from './add-texts.ts';

await addTexts({ workplace }, () => import('../ja-workplace.ts'));
