import canvas from '../en/canvas.json';
import { addTexts } from './add-texts.ts';

await addTexts({ canvas }, () => import('../ja-canvas.ts'));
