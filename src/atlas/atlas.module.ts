import { Module } from '@nestjs/common';
import { AtlasController } from './atlas.controller.js';
import { CellCardController } from './cell-card.controller.js';

@Module({ controllers: [AtlasController, CellCardController] })
export class AtlasModule {}
