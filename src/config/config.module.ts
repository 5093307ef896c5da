import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Environment } from './environment.js';

/** Hands the one frozen Environment to whoever asks for it by its class. */
@Global()
@Module({})
export class ConfigModule {
  static of(environment: Environment): DynamicModule {
    return {
      module: ConfigModule,
      providers: [{ provide: Environment, useValue: environment }],
      exports: [Environment],
    };
  }
}
